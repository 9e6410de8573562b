// An athlete's connections to vendors: the authorised call, what is known of each, revocation. How a connection comes to be, consents say.
// A connection stores the granted scopes, so that the missing ones can be named. Quota decides whether a call may be made, vendors
// what its answer means, erasure what is deleted.
import { DAY_MS } from '../kernel/durations.ts'
import { within } from '../kernel/within.ts'
import type { CallOptions, CallOutcome } from '../calls/calls.ts'
import type { Queryable } from '../db/db.ts'
import { missingScopes, type VendorName, type VendorRequest } from '../vendors/vendors.ts'
import { bearing, revokeGrant } from './bearer.ts'
import { connectionSql as sql } from './connection-sql.ts'
import { Consents, type ConsentsParts } from './consents.ts'
import type { Consent } from './grant-keeping.ts'
import { Looks } from './looks.ts'
import { Tokens, type ConnectionStatus, type TokenAnswer } from './tokens.ts'

export interface Connection {
  readonly id: string
  readonly vendor: VendorName
  readonly status: ConnectionStatus
  readonly scopes: readonly string[]
  readonly missingScopes: readonly string[]
  readonly vendorAthleteId: string
  readonly connectedAt: Date
  readonly lastSyncAt: Date | null
}

/** How an authorised call ended: as any call, or not sent for want of a token. */
export type AuthorisedOutcome<T> = CallOutcome<T> | { readonly outcome: 'needs_reauth' } | { readonly outcome: 'not_connected' }

interface ListRow {
  readonly id: string
  readonly vendor: VendorName
  readonly vendor_athlete_id: string
  readonly status: ConnectionStatus
  readonly scopes: string[]
  readonly connected_at: Date
  readonly last_sync_at: Date | null
}

export class Connections {
  readonly #parts: ConsentsParts
  readonly #tokens: Tokens
  /** How connections come to be. */
  readonly consents: Consents
  /** When each connection is looked at next without anybody asking. */
  readonly looks: Looks

  constructor(parts: ConsentsParts) {
    this.#parts = parts
    this.consents = new Consents(parts)
    this.looks = new Looks(parts)
    this.#tokens = new Tokens(parts)
  }

  /** The URL where the athlete gives consent. Undefined when the operator gave no credentials. */
  async start(athleteId: string, name: VendorName, asked: { readonly write?: boolean } = {}): Promise<string | undefined> {
    return await this.consents.start(athleteId, name, asked)
  }

  /** Completes a consent that the caller knows to be the athlete's own, with the query that the vendor sent them back with. */
  async finish(name: VendorName, returned: Readonly<Record<string, string | undefined>>): Promise<Consent> {
    return await this.consents.finish(name, returned)
  }

  async list(athleteId: string): Promise<Connection[]> {
    const rows = await this.#parts.database.query<ListRow>(sql.list({ athleteId }))
    return rows.map(row => {
      const facts = this.#parts.vendor(row.vendor)?.facts
      return {
        id: row.id,
        vendor: row.vendor,
        status: row.status,
        scopes: row.scopes,
        missingScopes: facts === undefined ? [] : missingScopes(facts, row.scopes),
        vendorAthleteId: row.vendor_athlete_id,
        connectedAt: row.connected_at,
        lastSyncAt: row.last_sync_at,
      }
    })
  }

  /** Undefined when the athlete is not connected to this vendor. */
  async find(athleteId: string, vendor: VendorName): Promise<Connection | undefined> {
    return (await this.list(athleteId)).find(connection => connection.vendor === vendor)
  }

  /** The athletes with an active connection to this vendor. */
  async active(vendor: VendorName): Promise<string[]> {
    return (await this.#parts.database.query<{ athlete_id: string }>(sql.active({ vendor }))).map(row => row.athlete_id)
  }

  /** Records that a webhook of this account reached us. Gives its athlete, if it has one. */
  async heard(vendor: VendorName, vendorAthleteId: string): Promise<string | undefined> {
    const now = new Date(this.#parts.clock.now())
    const [row] = await this.#parts.database.query<{ athlete_id: string }>(sql.heard({ vendor, vendorAthleteId, now }))
    return row?.athlete_id
  }

  /**
   * Keeps the connection until the caller's transaction ends. False: it has ended, so nothing may be stored. Whoever stores what a vendor
   * delivered asks first of all: an erasure deletes what was stored before it began, and nothing comes after.
   */
  async hold(tx: Queryable, athleteId: string, vendor: VendorName): Promise<boolean> {
    return (await tx.query(sql.hold({ athleteId, vendor }))).length > 0
  }

  /** Records that the data is complete up to `at`, in the caller's transaction. `everyMs`: when to look again; undefined: no more. */
  async synced(
    tx: Queryable,
    synced: { readonly athleteId: string; readonly vendor: VendorName; readonly at: Date; readonly everyMs: number | undefined },
  ): Promise<void> {
    const heardSince = new Date(this.#parts.clock.now() - DAY_MS)
    await tx.query(sql.synced({ ...synced, heardSince }))
  }

  /** Makes a call with the token, which is refreshed when it has expired. If the vendor refuses the token, refreshes it and calls once more. */
  async call<T>(connectionId: string, request: VendorRequest<T>, options: CallOptions): Promise<AuthorisedOutcome<T>> {
    // A refresh goes on when its caller no longer waits: the vendor may have taken the old token back already.
    const token = (refused?: number): Promise<TokenAnswer> =>
      unlessCancelled(options.signal, this.#tokens.token(connectionId, refused))
    const first = await token()
    if (first.outcome !== 'ready') return withoutToken(first)
    const outcome = await this.#parts.calls.call(bearing(request, first.token.accessToken), options)
    if (outcome.outcome !== 'unauthorised') return outcome
    const second = await token(first.token.version)
    if (second.outcome !== 'ready') return withoutToken(second)
    return await this.#parts.calls.call(bearing(request, second.token.accessToken), options)
  }

  /** Revokes the access at the vendor, where it has a way to. The outcome is ignored: the data is deleted either way. */
  async revoke(connectionId: string, name: VendorName, athleteId: string): Promise<void> {
    const answer = await this.#tokens.token(connectionId)
    if (answer.outcome !== 'ready') return
    const { calls, vendor } = this.#parts
    await revokeGrant(calls, vendor(name), { accessToken: answer.token.accessToken }, athleteId)
  }
}

const unlessCancelled = <T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> =>
  signal === undefined ? work : within(signal, work)

function withoutToken<T>(answer: Exclude<TokenAnswer, { outcome: 'ready' }>): AuthorisedOutcome<T> {
  if (answer.outcome === 'later') return answer.because
  return { outcome: answer.outcome === 'gone' ? 'not_connected' : 'needs_reauth' }
}
