// Consents that wait for a person's answer. The grant is sealed for its row. An answer carries two secrets, the form's token and the
// browser's cookie; only hashes of them are stored. Whatever is not confirmed is withdrawn at the vendor, unless somebody here has the same account: a
// revocation ends every grant of an account.
import { createHash } from 'node:crypto'
import { tell } from '../kernel/channels.ts'
import { MINUTE_MS } from '../kernel/durations.ts'
import { eachAlone } from '../kernel/each-alone.ts'
import { hasCode, reasonOf } from '../kernel/errors.ts'
import type { TokenGrant, VendorName } from '../vendors/vendors.ts'
import { revokeGrant } from './bearer.ts'
import { consentSql as sql } from './consent-sql.ts'
import type { ConsentsParts } from './consents.ts'
import type { Granted, Proof } from './grant-keeping.ts'

/** What is asked in a browser that is not the athlete's. */
export interface Question extends Answering {
  readonly outcome: 'question'
  readonly athleteName: string
  readonly vendorAthleteId: string
  /** Whether a cancel can take the grant back at the vendor. */
  readonly isRevocable: boolean
}

/** The secrets that an answer must carry. */
export interface Answering {
  /** In the form. */
  readonly token: string
  /** In the cookie. */
  readonly browser: string
}

interface Row {
  readonly id: string
  readonly athlete_id: string
  readonly vendor: VendorName
  readonly vendor_athlete_id: string
  readonly scopes: string[]
  readonly sealed_grant: Uint8Array
  readonly granted_at: Date
}

/** Time to read and decide; real time even when the clock is scaled. */
export const PENDING_MS = 10 * MINUTE_MS
/** At once: the next minute brings the rest. */
const MOST_EXPIRED = 100

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()

export class PendingConsents {
  readonly #parts: ConsentsParts

  constructor(parts: ConsentsParts) {
    this.#parts = parts
  }

  async keep(granted: Granted, proof: Proof): Promise<Question | 'overtaken' | 'erased'> {
    const { box, database, newId, vendor } = this.#parts
    const [id, token, browser] = [newId(), this.#secret(), this.#secret()]
    const { grant, ...known } = granted
    const query = sql.createPending({
      id,
      ...known,
      sealedGrant: box.seal(JSON.stringify(grant), id),
      tokenHash: hashOf(token),
      browserHash: hashOf(browser),
      expiresAt: this.#realTime(PENDING_MS),
    })
    const created = await database.transaction(async tx =>
      (await proof(tx)) ? await tx.query<{ athlete_name: string }>(query) : 'overtaken',
    )
    if (created === 'overtaken') return created
    const [row] = created
    if (row === undefined) return 'erased'
    const isRevocable = vendor(granted.vendor)?.oauth.revoke(grant) !== undefined
    const { vendorAthleteId } = granted
    return { outcome: 'question', athleteName: row.athlete_name, vendorAthleteId, isRevocable, token, browser }
  }

  /** `take` uses the question up, in the transaction that stores its grant. */
  async find(name: VendorName, answering: Answering): Promise<{ granted: Granted; take: Proof } | undefined> {
    const row = await this.#read(name, answering)
    if (row === undefined) return undefined
    const take: Proof = async tx => (await tx.query(sql.takePending({ id: row.id, now: this.#realTime() }))).length > 0
    return { granted: this.#grantedIn(row), take }
  }

  async cancel(name: VendorName, answering: Answering): Promise<boolean> {
    const row = await this.#read(name, answering)
    if (row === undefined) return false
    const ended = await this.#parts.database.query(sql.endPending({ id: row.id, now: this.#realTime() }))
    if (ended.length === 0) return false
    await this.#discard(row)
    return true
  }

  async expire(): Promise<void> {
    const query = sql.expiredPendings({ now: this.#realTime(), limit: MOST_EXPIRED })
    await eachAlone(await this.#parts.database.query<Row>(query), row => this.#discard(row))
  }

  /** Takes a grant back that is not kept. */
  async withdraw({ athleteId, vendor, vendorAthleteId, grant }: Granted): Promise<void> {
    const { calls, database } = this.#parts
    const inUse = await database.query(sql.accountInUse({ vendor, vendorAthleteId, now: this.#realTime() }))
    if (inUse.length === 0) await revokeGrant(calls, this.#parts.vendor(vendor), grant, athleteId)
  }

  /** The row goes last: should this process die before, the next minute's schedule withdraws once more. */
  async #discard(row: Row): Promise<void> {
    try {
      await this.withdraw(this.#grantedIn(row))
    } catch (error) {
      if (!hasCode(error, 'PACE_SECRET_KEY')) throw error
      const sentence = `A consent at ${row.vendor} that nobody confirmed cannot be revoked, because its key is gone: ${reasonOf(error)}`
      tell('paceline:notice', { where: 'accounts', sentence, level: 'warn' })
    }
    await this.#parts.database.query(sql.dropPending({ id: row.id }))
  }

  async #read(vendor: VendorName, { token, browser }: Answering): Promise<Row | undefined> {
    const query = sql.readPending({ tokenHash: hashOf(token), browserHash: hashOf(browser), vendor, now: this.#realTime() })
    return (await this.#parts.database.query<Row>(query))[0]
  }

  #grantedIn(row: Row): Granted {
    return {
      athleteId: row.athlete_id,
      vendor: row.vendor,
      vendorAthleteId: row.vendor_athlete_id,
      scopes: row.scopes,
      grant: JSON.parse(this.#parts.box.open(row.sealed_grant, row.id)) as TokenGrant,
      grantedAt: row.granted_at,
    }
  }

  #secret(): string {
    return Buffer.from(this.#parts.random.bytes(32)).toString('base64url')
  }

  #realTime(afterMs = 0): Date {
    return new Date(this.#parts.clock.realAt(this.#parts.clock.now()) + afterMs)
  }
}
