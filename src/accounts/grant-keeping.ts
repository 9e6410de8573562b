// Makes a connection of a grant, once, in the row that its tokens are sealed for.
import { hasCode } from '../kernel/errors.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Database, Queryable } from '../db/db.ts'
import type { TokenGrant, VendorName } from '../vendors/vendors.ts'
import { connectionSql } from './connection-sql.ts'
import { consentSql } from './consent-sql.ts'
import { CONSENT_CHANNEL } from './looks.ts'
import type { SecretBox } from './secret-box.ts'
import { sealed } from './tokens.ts'
import type { Clock } from '../kernel/clock.ts'

export type Consent =
  | { readonly outcome: 'connected'; readonly connectionId: string }
  | { readonly outcome: 'denied' }
  /** The account belongs to another athlete, or the athlete has connected another account of this vendor. */
  | { readonly outcome: 'already_connected' }
  /** The state or the question is unknown, used or expired. */
  | { readonly outcome: 'expired' }
  | { readonly outcome: 'failed'; readonly reason: string }

/** What a vendor granted, and for whom it was asked. */
export interface Granted {
  readonly athleteId: string
  readonly vendor: VendorName
  readonly vendorAthleteId: string
  readonly scopes: readonly string[]
  readonly grant: TokenGrant
  /** The tokens' lifetime counts from here. */
  readonly grantedAt: Date
}

/** Whether the grant may still be stored; asked in the transaction that stores it. */
export type Proof = (tx: Queryable) => Promise<boolean>

interface Keeping {
  readonly database: Database
  readonly clock: Clock
  readonly newId: NewId
  readonly box: SecretBox
  /** Resolves when an erasure of this athlete's data of this vendor is over. */
  readonly erased: (athleteId: string, vendor: VendorName) => Promise<void>
}

type Kept =
  | Extract<Consent, { readonly outcome: 'connected' | 'already_connected' }>
  /** The proof failed: another consent or another answer came first. */
  | { readonly outcome: 'overtaken' }
  /** The athlete is gone. */
  | { readonly outcome: 'erased' }

/** Tokens are sealed with their row's id. When another consent has made the row meanwhile, they are sealed again, for that row. */
export async function keepGrant(keeping: Keeping, granted: Granted, proof: Proof): Promise<Kept> {
  for (let id = (await idOf(keeping, granted)) ?? keeping.newId(); ;) {
    const written = await write(keeping, id, granted, proof)
    if (written === 'written') return { outcome: 'connected', connectionId: id }
    if (written === 'erasing') {
      await keeping.erased(granted.athleteId, granted.vendor)
      continue
    }
    if (written === 'overtaken' || written === 'erased') return { outcome: written }
    const found = await idOf(keeping, granted)
    const isSettled = found === undefined ? written === 'taken' : found === id
    if (isSettled) return { outcome: 'already_connected' }
    id = found ?? id
  }
}

/** `erasing`: what an ended connection brought is still being deleted. New data would be hidden and deleted with it. */
type Written = 'written' | 'overtaken' | 'erased' | 'erasing' | 'another row' | 'taken'

async function write({ box, clock, database }: Keeping, id: string, granted: Granted, proof: Proof): Promise<Written> {
  const { athleteId, vendor, vendorAthleteId, scopes, grant, grantedAt } = granted
  const tokens = sealed(grant, { box, id, now: grantedAt.getTime() })
  const now = new Date(clock.now())
  const connect = connectionSql.connect({ id, athleteId, vendor, vendorAthleteId, scopes, ...tokens, now })
  try {
    return await database.transaction(async tx => {
      await tx.query(connectionSql.lockAthlete({ athleteId }))
      if ((await tx.query(connectionSql.erasing({ athleteId, vendor }))).length > 0) return 'erasing'
      if (!(await proof(tx))) return 'overtaken'
      if ((await tx.query(connect)).length === 0) throw new AnotherRow()
      await tx.query(consentSql.dropPendingOfAccount({ vendor, vendorAthleteId }))
      await tx.notify(CONSENT_CHANNEL, vendor)
      return 'written'
    })
  } catch (error) {
    if (error instanceof AnotherRow) return 'another row'
    if (hasCode(error, '23503')) return 'erased'
    // Another athlete's, or this one's: of two inserts at once PostgreSQL may see this violation first.
    if (hasCode(error, '23505')) return 'taken'
    throw error
  }
}

/** Rolls back, so that the proof is not used up by a try that stored nothing. */
class AnotherRow extends Error {}

async function idOf({ database }: Keeping, { athleteId, vendor }: Granted): Promise<string | undefined> {
  return (await database.query<{ id: string }>(connectionSql.idOf({ athleteId, vendor })))[0]?.id
}
