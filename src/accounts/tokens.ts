// A connection's tokens: read, refreshed by one caller of all processes, saved before they are used. Laws:
// - of any number of callers that find a token expired, one asks the vendor; the others wait and read what it saved;
// - a refresh token that the vendor no longer accepts marks the connection `needs_reauth` once, and nobody asks again;
// - a refresher that dies leaves a lease that expires; the next one tries with the stored token. If the vendor has rotated it meanwhile and
//   refuses it, the athlete is asked to connect again.
import type { Clock } from '../kernel/clock.ts'
import type { CallOutcome, Calls } from '../calls/calls.ts'
import type { Database } from '../db/db.ts'
import type { OpenVendor, TokenGrant, VendorName } from '../vendors/vendors.ts'
import { connectionSql as sql } from './connection-sql.ts'
import type { SecretBox } from './secret-box.ts'

interface Token {
  readonly accessToken: string
  readonly version: number
}

export type TokenAnswer =
  | { readonly outcome: 'ready'; readonly token: Token }
  | { readonly outcome: 'needs_reauth' }
  | { readonly outcome: 'gone' }
  /** The vendor could not be asked now; a later attempt may succeed. */
  | { readonly outcome: 'later'; readonly because: Exclude<CallOutcome<TokenGrant>, { readonly outcome: 'ok' }> }

export const CONNECTION_STATUSES = ['active', 'needs_reauth'] as const
export type ConnectionStatus = (typeof CONNECTION_STATUSES)[number]

interface ConnectionRow {
  readonly id: string
  readonly athlete_id: string
  readonly vendor: VendorName
  readonly status: ConnectionStatus
  readonly access_token: Uint8Array
  readonly access_expires_at: Date | null
  readonly token_version: number
}

interface TokensParts {
  readonly database: Database
  readonly clock: Clock
  readonly calls: Calls
  readonly box: SecretBox
  readonly vendor: (name: VendorName) => OpenVendor | undefined
}

/** Longer than a token call may take, so that nobody overtakes a live refresher. */
const LEASE_MS = 60_000
const LOOK_AGAIN_MS = 100
/** A token that would expire while the request is under way counts as expired. */
const MARGIN_MS = 60_000

export class Tokens {
  readonly #parts: TokensParts

  constructor(parts: TokensParts) {
    this.#parts = parts
  }

  /** `usedUp`: the version that the vendor refused; if a newer one is stored, it is given without asking the vendor. */
  async token(id: string, usedUp?: number): Promise<TokenAnswer> {
    for (;;) {
      const row = await this.#read(id)
      if (row === undefined) return { outcome: 'gone' }
      if (row.status === 'needs_reauth') return { outcome: 'needs_reauth' }
      if (this.#isGood(row, usedUp)) return { outcome: 'ready', token: this.#tokenOf(row) }
      const refreshed = await this.#refresh(row)
      if (refreshed !== 'another does') return refreshed
      await this.#parts.clock.sleep(LOOK_AGAIN_MS * this.#parts.clock.speed)
    }
  }

  async #read(id: string): Promise<ConnectionRow | undefined> {
    return (await this.#parts.database.query<ConnectionRow>(sql.read({ id })))[0]
  }

  #isGood(row: ConnectionRow, usedUp: number | undefined): boolean {
    if (usedUp !== undefined && row.token_version <= usedUp) return false
    return row.access_expires_at === null || row.access_expires_at.getTime() - MARGIN_MS > this.#parts.clock.now()
  }

  #tokenOf(row: ConnectionRow): Token {
    return { accessToken: this.#parts.box.open(row.access_token, row.id), version: row.token_version }
  }

  async #refresh(row: ConnectionRow): Promise<TokenAnswer | 'another does'> {
    const { clock, database } = this.#parts
    const { id, token_version: version } = row
    const now = clock.now()
    const leaseUntil = new Date(now + LEASE_MS * clock.speed)
    type Claim = { refresh_epoch: number; refresh_token: Uint8Array | null }
    const [claim] = await database.query<Claim>(sql.claimRefresh({ id, version, now: new Date(now), leaseUntil }))
    if (claim === undefined) return 'another does'
    const request =
      claim.refresh_token && this.#parts.vendor(row.vendor)?.oauth.refresh(this.#parts.box.open(claim.refresh_token, id))
    if (!request) return await this.#dead(row)
    const outcome = await this.#parts.calls.call(request, { callClass: 'live', athleteId: row.athlete_id })
    if (outcome.outcome === 'ok') return await this.#save(row, claim.refresh_epoch, outcome.value)
    if (this.#isDead(row.vendor, outcome)) return await this.#dead(row)
    await database.query(sql.releaseRefresh({ id, epoch: claim.refresh_epoch }))
    return { outcome: 'later', because: outcome }
  }

  #isDead(vendor: VendorName, outcome: Exclude<CallOutcome<TokenGrant>, { readonly outcome: 'ok' }>): boolean {
    if (outcome.outcome === 'timeout' || outcome.outcome === 'malformed') return false
    if (outcome.outcome === 'no_permit' || outcome.outcome === 'withdrawn') return false
    return this.#parts.vendor(vendor)?.oauth.isDeadRefresh(outcome) ?? false
  }

  async #dead(row: ConnectionRow): Promise<TokenAnswer> {
    await this.#parts.database.query(sql.needsReauth({ id: row.id, version: row.token_version }))
    return { outcome: 'needs_reauth' }
  }

  /** Saves a grant before anyone uses it, so that a rotated token is never in memory only. */
  async #save({ id }: ConnectionRow, epoch: number, grant: TokenGrant): Promise<TokenAnswer | 'another does'> {
    const { box, clock, database } = this.#parts
    const query = sql.saveRefresh({ id, epoch, ...sealed(grant, { box, id, now: clock.now() }) })
    const [saved] = await database.query<{ token_version: number }>(query)
    if (saved === undefined) return 'another does'
    return { outcome: 'ready', token: { accessToken: grant.accessToken, version: saved.token_version } }
  }
}

/** As a connection's row keeps it; bound to that row. */
export const sealed = (grant: TokenGrant, { box, id, now }: { box: SecretBox; id: string; now: number }) => ({
  accessToken: box.seal(grant.accessToken, id),
  accessExpiresAt: grant.expiresInSeconds === undefined ? null : new Date(now + grant.expiresInSeconds * 1000),
  refreshToken: grant.refreshToken === undefined ? null : box.seal(grant.refreshToken, id),
})
