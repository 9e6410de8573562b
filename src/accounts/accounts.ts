// Athletes, and how they and the operator prove who they are: API tokens, the installation's two tokens, sign-in links and the sessions
// these open. Secrets are shown once and stored as hashes. What an identity may do is decided in http/.
import assert from 'node:assert/strict'
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../kernel/clock.ts'
import { DAY_MS } from '../kernel/durations.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Random } from '../kernel/random.ts'
import { isTimeZone } from '../kernel/time-zone.ts'
import { loadQueries, type Database } from '../db/db.ts'
import type { Secrets } from './secrets.ts'

export { Connections } from './connections.ts'
export type { AuthorisedOutcome, Connection } from './connections.ts'
export type { Consent } from './grant-keeping.ts'
export { PENDING_MS, type Question } from './pending-consents.ts'
export type { DueLook, NextLook } from './looks.ts'
export { Erasure, type Receipt } from './erasure.ts'
export { CONNECTION_STATUSES } from './tokens.ts'
export { SecretBox } from './secret-box.ts'
export { eraseSome, identityTables } from './eraser.ts'
export { openSecrets, SECRETS_FILE, type Secrets } from './secrets.ts'

interface Athlete {
  readonly id: string
  readonly name: string
  readonly timezone: string | null
}

interface ApiToken {
  readonly id: string
  readonly createdAt: Date
}

export type Identity =
  | { readonly kind: 'operator' }
  | { readonly kind: 'ingest' }
  | { readonly kind: 'athlete'; readonly athleteId: string }

interface Page {
  /** The last id of the previous page; undefined for the first page. */
  readonly after?: string | undefined
  readonly limit: number
}

interface AccountsParts {
  readonly database: Database
  readonly clock: Clock
  readonly random: Random
  readonly newId: NewId
  readonly secrets: Pick<Secrets, 'adminToken' | 'ingestToken'>
}

const sql = loadQueries(new URL('account-store.sql', import.meta.url), {
  createAthlete: ['id', 'name', 'timezone', 'now'],
  listAthletes: ['after', 'limit'],
  athleteExists: ['id'],
  timezone: ['id'],
  createToken: ['id', 'athleteId', 'tokenHash', 'now'],
  listTokens: ['athleteId', 'after', 'limit'],
  revokeToken: ['athleteId', 'id', 'now'],
  athleteOfToken: ['tokenHash'],
  createLink: ['tokenHash', 'athleteId', 'expiresAt'],
  useLink: ['tokenHash', 'now'],
  createSession: ['tokenHash', 'athleteId', 'expiresAt'],
  sessionOf: ['tokenHash', 'now'],
  endSession: ['tokenHash'],
  pruneLinks: ['now'],
  pruneSessions: ['now'],
})

const LINK_MS = DAY_MS
export const SESSION_MS = 30 * DAY_MS

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()

const identityOf = (athleteId: string | null): Identity =>
  athleteId === null ? { kind: 'operator' } : { kind: 'athlete', athleteId }

export class Accounts {
  readonly #database: Database
  readonly #clock: Clock
  readonly #random: Random
  readonly #newId: NewId
  readonly #installation: readonly { readonly hash: Buffer; readonly identity: Identity }[]

  constructor({ database, clock, random, newId, secrets }: AccountsParts) {
    this.#database = database
    this.#clock = clock
    this.#random = random
    this.#newId = newId
    this.#installation = [
      { hash: hashOf(secrets.adminToken), identity: { kind: 'operator' } },
      { hash: hashOf(secrets.ingestToken), identity: { kind: 'ingest' } },
    ]
  }

  async createAthlete({ name, timezone }: { name: string; timezone: string | null }): Promise<Athlete> {
    assert(timezone === null || isTimeZone(timezone), 'a time zone is checked where it comes in')
    const query = sql.createAthlete({ id: this.#newId(), name, timezone, now: this.#now() })
    const [row] = await this.#database.query<Athlete>(query)
    if (row === undefined) throw new Error('an inserted athlete was not returned')
    return row
  }

  async athletes({ after, limit }: Page): Promise<Athlete[]> {
    return await this.#database.query<Athlete>(sql.listAthletes({ after, limit }))
  }

  /** The time zone that the athlete set, if any. */
  async timezoneOf(athleteId: string): Promise<string | undefined> {
    const [row] = await this.#database.query<{ timezone: string | null }>(sql.timezone({ id: athleteId }))
    return row?.timezone ?? undefined
  }

  async athleteExists(id: string): Promise<boolean> {
    return (await this.#database.query(sql.athleteExists({ id }))).length > 0
  }

  /** The only time that the token is shown. Undefined when there is no such athlete. */
  async createToken(athleteId: string): Promise<{ id: string; token: string } | undefined> {
    const token = `pace_${this.#secret()}`
    const query = sql.createToken({ id: this.#newId(), athleteId, tokenHash: hashOf(token), now: this.#now() })
    const [row] = await this.#database.query<{ id: string }>(query)
    return row && { id: row.id, token }
  }

  async tokens(athleteId: string, { after, limit }: Page): Promise<ApiToken[]> {
    const rows = await this.#database.query<{ id: string; created_at: Date }>(sql.listTokens({ athleteId, after, limit }))
    return rows.map(row => ({ id: row.id, createdAt: row.created_at }))
  }

  /** False when the athlete has no such token, or it was revoked before. */
  async revokeToken(athleteId: string, id: string): Promise<boolean> {
    return (await this.#database.query(sql.revokeToken({ athleteId, id, now: this.#now() }))).length > 0
  }

  async identify(token: string): Promise<Identity | undefined> {
    const tokenHash = hashOf(token)
    // Both are always compared, in constant time, so that the duration says nothing about how much of a guess was right.
    const [known] = this.#installation.filter(each => timingSafeEqual(each.hash, tokenHash))
    if (known !== undefined) return known.identity
    const [row] = await this.#database.query<{ athlete_id: string }>(sql.athleteOfToken({ tokenHash }))
    return row && identityOf(row.athlete_id)
  }

  /** The token of a link that signs in once: as the athlete, or as the operator for null. Undefined when there is no such athlete. */
  async createSignInLink(athleteId: string | null): Promise<string | undefined> {
    const token = this.#secret()
    const query = sql.createLink({ tokenHash: hashOf(token), athleteId, expiresAt: this.#realTime(LINK_MS) })
    const created = await this.#database.query(query)
    return created.length > 0 ? token : undefined
  }

  /** Opens a session and gives its secret. Undefined when the link is unknown, used or expired. */
  async signIn(linkToken: string): Promise<string | undefined> {
    return await this.#database.transaction(async tx => {
      const used = sql.useLink({ tokenHash: hashOf(linkToken), now: this.#realTime() })
      const [link] = await tx.query<{ athlete_id: string | null }>(used)
      if (link === undefined) return undefined
      const session = this.#secret()
      const expiresAt = this.#realTime(SESSION_MS)
      await tx.query(sql.createSession({ tokenHash: hashOf(session), athleteId: link.athlete_id, expiresAt }))
      return session
    })
  }

  async identifySession(session: string): Promise<Identity | undefined> {
    const query = sql.sessionOf({ tokenHash: hashOf(session), now: this.#realTime() })
    const [row] = await this.#database.query<{ athlete_id: string | null }>(query)
    return row && identityOf(row.athlete_id)
  }

  async signOut(session: string): Promise<void> {
    await this.#database.query(sql.endSession({ tokenHash: hashOf(session) }))
  }

  /** Deletes expired links and sessions. */
  async prune(): Promise<void> {
    const now = this.#realTime()
    await this.#database.query(sql.pruneLinks({ now }))
    await this.#database.query(sql.pruneSessions({ now }))
  }

  #secret(): string {
    return Buffer.from(this.#random.bytes(32)).toString('base64url')
  }

  #now(): Date {
    return new Date(this.#clock.now())
  }

  /** Links and cookies use real time even when the clock is scaled, because browsers do. */
  #realTime(afterMs = 0): Date {
    return new Date(this.#clock.realAt(this.#clock.now()) + afterMs)
  }
}
