// Consents: from the link to the vendor's page until the grant is a connection. A random state that works once binds a consent to its
// athlete, but not to a person: whoever follows the link grants their own account. So the state's athlete (or the operator) is connected
// at once, and in any other browser a person is asked first. What nobody confirms is kept sealed for ten minutes, then withdrawn.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { Clock } from '../kernel/clock.ts'
import { MINUTE_MS } from '../kernel/durations.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Random } from '../kernel/random.ts'
import type { CallOutcome, Calls } from '../calls/calls.ts'
import type { Database } from '../db/db.ts'
import { neededScopes, type Callback, type OpenVendor, type TokenGrant, type VendorName } from '../vendors/vendors.ts'
import { bearing } from './bearer.ts'
import { consentSql as sql } from './consent-sql.ts'
import { takeTurn } from './consent-turns.ts'
import { keepGrant, type Consent, type Granted, type Proof } from './grant-keeping.ts'
import { PendingConsents, type Answering, type Question } from './pending-consents.ts'
import type { SecretBox } from './secret-box.ts'

export interface ConsentsParts {
  readonly database: Database
  readonly clock: Clock
  readonly random: Random
  readonly newId: NewId
  readonly calls: Calls
  readonly box: SecretBox
  /** Undefined when the operator gave no credentials. */
  readonly vendor: (name: VendorName) => OpenVendor | undefined
  readonly publicUrl: () => string
  /** Resolves when an erasure of this athlete's data of this vendor is over. */
  readonly erased: (athleteId: string, vendor: VendorName) => Promise<void>
}

/** The query that a vendor sends somebody back with. */
type Returned = Readonly<Record<string, string | undefined>>

/** Time for a person to read and click; real time even when the clock is scaled. */
const STATE_MS = 15 * MINUTE_MS

const EXPIRED = { outcome: 'expired' } as const

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()

interface Used {
  readonly open: OpenVendor
  readonly athleteId: string
  readonly callback: Callback & { readonly outcome: 'granted' }
  readonly codeVerifier: string | undefined
}

export class Consents {
  readonly #parts: ConsentsParts
  readonly #pending: PendingConsents

  constructor(parts: ConsentsParts) {
    this.#parts = parts
    this.#pending = new PendingConsents(parts)
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

  /** Completes a consent that the caller knows to be the athlete's own. */
  async finish(name: VendorName, returned: Returned): Promise<Consent> {
    const arrived = await this.arrive(name, returned, () => true)
    assert(arrived.outcome !== 'question')
    return arrived
  }

  /** Completes a consent, or keeps it and gives the question to ask where it did not come back to the athlete it was begun for. */
  async arrive(name: VendorName, returned: Returned, isTheirs: (athleteId: string) => boolean): Promise<Consent | Question> {
    const used = await this.#used(name, returned)
    if ('outcome' in used) return used
    const { athleteId } = used
    const turn = await takeTurn(this.#parts, { athleteId, vendor: name })
    try {
      const granted = await this.#exchange(used)
      if ('outcome' in granted) return granted
      return isTheirs(athleteId) ? await this.#connect(granted, turn.isHeld) : await this.#ask(granted, turn.isHeld)
    } finally {
      await turn.end()
    }
  }

  /** Of several answers to a question one counts; the others find that it has expired. */
  async confirm(name: VendorName, answering: Answering): Promise<Consent> {
    const found = await this.#pending.find(name, answering)
    if (found === undefined) return EXPIRED
    const consent = await this.#connect(found.granted, found.take)
    if (consent.outcome !== 'connected') await this.#pending.cancel(name, answering)
    return consent
  }

  /** False when there is nothing to cancel any more. */
  async cancel(name: VendorName, answering: Answering): Promise<boolean> {
    return await this.#pending.cancel(name, answering)
  }

  /** Withdraws what nobody confirmed in time. */
  async expire(): Promise<void> {
    await this.#pending.expire()
  }

  /** Deletes the states of consents that were never completed, and the turns of processes that died. */
  async prune(): Promise<void> {
    const { clock, database } = this.#parts
    await database.query(sql.pruneStates({ now: this.#realTime() }))
    await database.query(sql.pruneTurns({ now: new Date(clock.now()) }))
  }

  async #used(name: VendorName, returned: Returned): Promise<Used | Consent> {
    const { box, database, vendor } = this.#parts
    const open = vendor(name)
    const callback = open?.oauth.callback(returned)
    if (open === undefined || callback === undefined || callback.outcome === 'malformed') return EXPIRED
    type State = { athlete_id: string; code_verifier: Uint8Array | null }
    const query = sql.useState({ stateHash: hashOf(callback.state), vendor: name, now: this.#realTime() })
    const [state] = await database.query<State>(query)
    if (state === undefined) return EXPIRED
    if (callback.outcome === 'denied') return { outcome: 'denied' }
    const codeVerifier = state.code_verifier === null ? undefined : box.open(state.code_verifier, callback.state)
    return { open, athleteId: state.athlete_id, callback, codeVerifier }
  }

  async #exchange({ open, athleteId, callback, codeVerifier }: Used): Promise<Granted | Consent> {
    const { calls, clock } = this.#parts
    const options = { callClass: 'live', athleteId } as const
    const request = open.oauth.exchange({ code: callback.code, redirectUri: this.#redirectUri(open.name), codeVerifier })
    const answer = await calls.call(request, options)
    if (answer.outcome !== 'ok') return { outcome: 'failed', reason: `the code was not exchanged: ${answer.outcome}` }
    const grant: TokenGrant = answer.value
    const grantedAt = new Date(clock.now())
    const identity = open.oauth.identity()
    const who = grant.vendorAthleteId ?? (identity && valueOf(await calls.call(bearing(identity, grant.accessToken), options)))
    if (who === undefined) return { outcome: 'failed', reason: 'the vendor did not say whose account it is' }
    const permissions = open.oauth.permissions()
    const asked = permissions && valueOf(await calls.call(bearing(permissions, grant.accessToken), options))
    const scopes = asked ?? callback.scopes ?? grant.scopes ?? neededScopes(open.facts, {})
    return { athleteId, vendor: open.name, vendorAthleteId: who, scopes, grant, grantedAt }
  }

  async #connect(granted: Granted, proof: Proof): Promise<Consent> {
    const kept = await keepGrant(this.#parts, granted, proof)
    if (kept.outcome === 'connected') return kept
    if (kept.outcome === 'overtaken') return EXPIRED
    await this.#pending.withdraw(granted)
    return kept.outcome === 'erased' ? EXPIRED : kept
  }

  async #ask(granted: Granted, proof: Proof): Promise<Consent | Question> {
    const asked = await this.#pending.keep(granted, proof)
    if (asked === 'overtaken') return EXPIRED
    if (asked !== 'erased') return asked
    await this.#pending.withdraw(granted)
    return EXPIRED
  }

  #redirectUri(name: VendorName): string {
    return `${this.#parts.publicUrl()}/oauth/${name}/callback`
  }

  #realTime(afterMs = 0): Date {
    return new Date(this.#parts.clock.realAt(this.#parts.clock.now()) + afterMs)
  }
}

const valueOf = <T>(outcome: CallOutcome<T>): T | undefined => (outcome.outcome === 'ok' ? outcome.value : undefined)
