// An athlete's connections to vendors: consent, the authorised call, revocation. A random state that works once binds a consent to its
// athlete. A connection stores the granted scopes, so that the missing ones can be named. Quota decides whether a call may be made, vendors
// what its answer means, erasure what is deleted.
import { createHash } from 'node:crypto'
import type { Clock } from '../kernel/clock.ts'
import { DAY_MS, MINUTE_MS } from '../kernel/durations.ts'
import { hasCode } from '../kernel/errors.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Random } from '../kernel/random.ts'
import { within } from '../kernel/within.ts'
import type { CallOptions, CallOutcome, Calls } from '../calls/calls.ts'
import type { Database, Queryable } from '../db/db.ts'
import {
  missingScopes,
  neededScopes,
  type Callback,
  type OpenVendor,
  type TokenGrant,
  type VendorName,
  type VendorRequest,
} from '../vendors/vendors.ts'
import { connectionSql as sql } from './connection-sql.ts'
import { CONSENT_CHANNEL, Looks } from './looks.ts'
import type { SecretBox } from './secret-box.ts'
import { sealed, Tokens, type ConnectionStatus, type TokenAnswer } from './tokens.ts'

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

interface ConnectionsParts {
  readonly database: Database
  readonly clock: Clock
  readonly random: Random
  readonly newId: NewId
  readonly calls: Calls
  readonly box: SecretBox
  /** Undefined when the operator gave no credentials. */
  readonly vendor: (name: VendorName) => OpenVendor | undefined
  readonly publicUrl: () => string
}

export type Consent =
  | { readonly outcome: 'connected'; readonly connectionId: string }
  | { readonly outcome: 'denied' }
  /** The account belongs to another athlete, or the athlete has connected another account of this vendor. */
  | { readonly outcome: 'already_connected' }
  /** The state is unknown, used or expired. */
  | { readonly outcome: 'expired' }
  | { readonly outcome: 'failed'; readonly reason: string }

/** How an authorised call ended: as any call, or not sent for want of a token. */
export type AuthorisedOutcome<T> = CallOutcome<T> | { readonly outcome: 'needs_reauth' } | { readonly outcome: 'not_connected' }

interface Kept {
  readonly athleteId: string
  readonly vendor: VendorName
  readonly vendorAthleteId: string
  readonly scopes: readonly string[]
}

/** Time for a person to read and click; real time even when the clock is scaled. */
const STATE_MS = 15 * MINUTE_MS

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()

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
  readonly #parts: ConnectionsParts
  readonly #tokens: Tokens
  /** When each connection is looked at next without anybody asking. */
  readonly looks: Looks

  constructor(parts: ConnectionsParts) {
    this.#parts = parts
    this.looks = new Looks(parts)
    this.#tokens = new Tokens(parts)
  }

  /** The URL where the athlete gives consent. Undefined when the operator gave no credentials. */
  async start(athleteId: string, name: VendorName, { write = false } = {}): Promise<string | undefined> {
    const { box, database, random, vendor } = this.#parts
    const open = vendor(name)
    if (open === undefined) return undefined
    const state = Buffer.from(random.bytes(32)).toString('base64url')
    const pkce = open.oauth.pkce(random)
    const codeVerifier = pkce && box.seal(pkce.verifier, state)
    const [stateHash, expiresAt] = [hashOf(state), this.#realTime(STATE_MS)]
    await database.query(sql.createState({ stateHash, athleteId, vendor: name, codeVerifier, expiresAt }))
    return open.oauth.authoriseUrl({
      redirectUri: this.#redirectUri(name),
      state,
      scopes: neededScopes(open.facts, { write }),
      pkce,
    })
  }

  /** Completes a consent with the query that the vendor sent the athlete back with. */
  async finish(name: VendorName, returned: Readonly<Record<string, string | undefined>>): Promise<Consent> {
    const open = this.#parts.vendor(name)
    const callback = open?.oauth.callback(returned)
    if (open === undefined || callback === undefined || callback.outcome === 'malformed') return { outcome: 'expired' }
    type State = { athlete_id: string; code_verifier: Uint8Array | null }
    const query = sql.useState({ stateHash: hashOf(callback.state), vendor: name, now: this.#realTime() })
    const [state] = await this.#parts.database.query<State>(query)
    if (state === undefined) return { outcome: 'expired' }
    if (callback.outcome === 'denied') return { outcome: 'denied' }
    const codeVerifier = state.code_verifier === null ? undefined : this.#parts.box.open(state.code_verifier, callback.state)
    const request = open.oauth.exchange({ code: callback.code, redirectUri: this.#redirectUri(name), codeVerifier })
    const grant = await this.#parts.calls.call(request, { callClass: 'live', athleteId: state.athlete_id })
    if (grant.outcome !== 'ok') return { outcome: 'failed', reason: `the code was not exchanged: ${grant.outcome}` }
    return await this.#keep(open, state.athlete_id, callback, grant.value)
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

  /** Deletes the states of consents that were never completed. */
  async prune(): Promise<void> {
    await this.#parts.database.query(sql.pruneStates({ now: this.#realTime() }))
  }

  /** Revokes the access at the vendor, where it has a way to. The outcome is ignored: the data is deleted either way. */
  async revoke(connectionId: string, name: VendorName, athleteId: string): Promise<void> {
    const answer = await this.#tokens.token(connectionId)
    if (answer.outcome !== 'ready') return
    const request = this.#parts.vendor(name)?.oauth.revoke({ accessToken: answer.token.accessToken })
    if (request === undefined) return
    const carried = request.authorised ? bearing(request, answer.token.accessToken) : request
    await this.#parts.calls.call(carried, { callClass: 'live', athleteId })
  }

  async #keep(
    open: OpenVendor,
    athleteId: string,
    callback: Callback & { outcome: 'granted' },
    grant: TokenGrant,
  ): Promise<Consent> {
    const options = { callClass: 'live', athleteId } as const
    const identity = open.oauth.identity()
    const who =
      grant.vendorAthleteId ?? (identity && valueOf(await this.#parts.calls.call(bearing(identity, grant.accessToken), options)))
    if (who === undefined) return { outcome: 'failed', reason: 'the vendor did not say whose account it is' }
    const permissions = open.oauth.permissions()
    const asked = permissions && valueOf(await this.#parts.calls.call(bearing(permissions, grant.accessToken), options))
    const scopes = asked ?? callback.scopes ?? grant.scopes ?? neededScopes(open.facts, {})
    return await this.#store({ athleteId, vendor: open.name, vendorAthleteId: who, scopes }, grant)
  }

  /** Tokens are sealed with their row's id. When another consent has made the row meanwhile, they are sealed again, for that row. */
  async #store(kept: Kept, grant: TokenGrant): Promise<Consent> {
    for (let id = (await this.#idOf(kept)) ?? this.#parts.newId(); ;) {
      const written = await this.#write(id, kept, grant)
      if (written === 'written') return { outcome: 'connected', connectionId: id }
      const found = await this.#idOf(kept)
      const isSettled = found === undefined ? written === 'taken' : found === id
      if (isSettled) return { outcome: 'already_connected' }
      id = found ?? id
    }
  }

  async #write(id: string, kept: Kept, grant: TokenGrant): Promise<'written' | 'another row' | 'taken'> {
    const { box, clock, database } = this.#parts
    const now = clock.now()
    const query = sql.connect({ id, ...kept, ...sealed(grant, { box, id, now }), now: new Date(now) })
    try {
      return await database.transaction(async tx => {
        if ((await tx.query(query)).length === 0) return 'another row'
        await tx.notify(CONSENT_CHANNEL, kept.vendor)
        return 'written'
      })
    } catch (error) {
      // Another athlete's, or this one's: of two inserts at once PostgreSQL may see this violation first.
      if (hasCode(error, '23505')) return 'taken'
      throw error
    }
  }

  async #idOf({ athleteId, vendor }: Kept): Promise<string | undefined> {
    return (await this.#parts.database.query<{ id: string }>(sql.idOf({ athleteId, vendor })))[0]?.id
  }

  #redirectUri(name: VendorName): string {
    return `${this.#parts.publicUrl()}/oauth/${name}/callback`
  }

  #realTime(afterMs = 0): Date {
    return new Date(this.#parts.clock.realAt(this.#parts.clock.now()) + afterMs)
  }
}

const bearing = <T>(request: VendorRequest<T>, accessToken: string): VendorRequest<T> => ({
  ...request,
  headers: { ...request.headers, authorization: `Bearer ${accessToken}` },
})

const unlessCancelled = <T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> =>
  signal === undefined ? work : within(signal, work)

function withoutToken<T>(answer: Exclude<TokenAnswer, { outcome: 'ready' }>): AuthorisedOutcome<T> {
  if (answer.outcome === 'later') return answer.because
  return { outcome: answer.outcome === 'gone' ? 'not_connected' : 'needs_reauth' }
}

const valueOf = <T>(outcome: CallOutcome<T>): T | undefined => (outcome.outcome === 'ok' ? outcome.value : undefined)
