// The whole HTTP application on an embedded store in memory, with one of everybody who may ask. Whoever opens it adds routes of
// their own before the first request, and closes it. The store may hold other fixtures' athletes, unless it was asked for alone.
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyInstance, RouteOptions } from 'fastify'
import type { Accounts } from '../src/accounts/accounts.ts'
import type { Database } from '../src/db/db.ts'
import { buildApp, type App, type HttpParts } from '../src/http/http.ts'
import { VirtualClock } from '../src/kernel/clock.ts'
import { idMaker, isId } from '../src/kernel/ids.ts'
import { secure } from '../src/kernel/random.ts'
import type { Rooms } from '../src/rooms.ts'
import { PUBLIC_URL, roomsOn, SECRETS, type Given } from './rooms.ts'
import { openMigrated } from './stores.ts'

export const NOBODY = '018f3d3e-0000-7000-8000-000000000000'

export type Headers = Readonly<Record<string, string>>

export interface HttpFixture extends Rooms {
  readonly app: App
  readonly database: Database
  /** Every route of the application, also those that come later, in the order in which they were added. */
  readonly routes: readonly RouteOptions[]
  /** Stands still unless the test moves it. */
  readonly clock: VirtualClock
  readonly athleteId: string
  /** What each kind of asker sends. */
  readonly as: Readonly<Record<Asker, Headers>>
  /** Another application on the same store, built otherwise. */
  readonly rebuild: (given: Partial<HttpParts>) => Promise<App>
  readonly close: () => Promise<void>
}

export const ASKERS = [
  'nobody',
  'garbage',
  'revoked',
  'athlete',
  'operator',
  'ingest',
  'athleteCookie',
  'operatorCookie',
] as const
export type Asker = (typeof ASKERS)[number]

export const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` })
const byCookie = (session: string): Headers => ({ cookie: `paceline_session=${session}`, 'x-paceline': '1' })

interface Around {
  readonly isAlone?: boolean
  /** What the rooms have of the outside; no vendor unless said. */
  readonly outside?: (clock: VirtualClock) => Partial<Given>
}

export async function openHttp(given: Partial<HttpParts> = {}, { isAlone = false, outside }: Around = {}): Promise<HttpFixture> {
  const { database, leave } = await (isAlone ? ownStore() : sharedStore())
  const clock = new VirtualClock(Date.UTC(2026, 0, 1))
  const newId = idMaker(clock, secure())
  const rooms = roomsOn({ database, clock, newId, ...outside?.(clock) })
  const { accounts } = rooms
  const parts: HttpParts = {
    version: '1.2.3',
    demo: false,
    secure: false,
    clock,
    newId,
    ...rooms,
    database,
    vendors: () => [],
    parts: [],
    publicUrl: () => PUBLIC_URL,
    metrics: async () => ({ contentType: 'text/plain; version=0.0.4; charset=utf-8', text: 'up 1\n' }),
    doctor: async () => [{ check: 'store', level: 'ok', sentence: 'The store is there.' }],
    ...given,
  }
  const { built: app, routes } = await withRoutes(() => buildApp(parts))
  const { id: athleteId } = await accounts.createAthlete({ name: 'Ada', timezone: null })
  return {
    app,
    ...rooms,
    database,
    routes,
    clock,
    athleteId,
    as: {
      nobody: {},
      garbage: bearer('pace_never_given'),
      revoked: bearer(await revokedToken(accounts, athleteId)),
      athlete: bearer((await tokenOf(accounts, athleteId)).token),
      operator: bearer(SECRETS.adminToken),
      ingest: bearer(SECRETS.ingestToken),
      athleteCookie: byCookie(await sessionOf(accounts, athleteId)),
      operatorCookie: byCookie(await sessionOf(accounts, null)),
    },
    rebuild: async more => await buildApp({ ...parts, ...more }),
    close: async () => {
      await app.close()
      await leave()
    },
  }
}

interface Stay {
  readonly database: Database
  readonly leave: () => Promise<void>
}

async function ownStore(): Promise<Stay> {
  const database = await openMigrated()
  return { database, leave: () => database.close() }
}

let shared: Promise<Database> | undefined
let guests = 0

/** One for all fixtures of a process, closed by the last that leaves: opening one takes longer than most files' tests. */
async function sharedStore(): Promise<Stay> {
  guests++
  const opening = (shared ??= openMigrated())
  const leave = async (): Promise<void> => {
    if (--guests > 0) return
    shared = undefined
    await (await opening).close()
  }
  return { database: await opening, leave }
}

/** Fastify tells when an instance comes to be; from then on it can be heard which routes it is given. */
async function withRoutes<T>(build: () => Promise<T>): Promise<{ built: T; routes: RouteOptions[] }> {
  const routes: RouteOptions[] = []
  const onInstance = (message: unknown): void => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRoute', route => void routes.push(route))
  }
  subscribe('fastify.initialization', onInstance)
  try {
    return { built: await build(), routes }
  } finally {
    unsubscribe('fastify.initialization', onInstance)
  }
}

export async function tokenOf(accounts: Accounts, athleteId: string): Promise<{ id: string; token: string }> {
  const made = await accounts.createToken(athleteId)
  assert(made)
  return made
}

export async function linkOf(accounts: Accounts, athleteId: string | null): Promise<string> {
  const link = await accounts.createSignInLink(athleteId)
  assert(link)
  return link
}

export type Answer = Awaited<ReturnType<App['inject']>>

/** What is looked at of an answer that refuses. */
export type Refusal = Pick<Answer, 'statusCode' | 'headers' | 'body' | 'json'>

/** A failure in the contract's shape and nothing besides; gives its body. */
export function assertRefused(answer: Refusal, status: number, code: string): { error: string; details?: string[] } {
  assert.equal(answer.statusCode, status, answer.body)
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
  assert(isId(String(answer.headers['x-request-id'])))
  const { error, details, ...rest } = answer.json<{ error: string; details?: string[] }>()
  assert.deepEqual(rest, { code })
  assert.match(error, /^[A-Z]/)
  return { error, ...(details && { details }) }
}

async function revokedToken(accounts: Accounts, athleteId: string): Promise<string> {
  const { id, token } = await tokenOf(accounts, athleteId)
  assert(await accounts.revokeToken(athleteId, id))
  return token
}

async function sessionOf(accounts: Accounts, athleteId: string | null): Promise<string> {
  const session = await accounts.signIn(await linkOf(accounts, athleteId))
  assert(session)
  return session
}
