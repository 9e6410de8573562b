// The composition root: which adapters are in use, what each room is given, and the order in which everything starts and
// stops. Read it to see the house at once; it decides nothing else.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Accounts, openSecrets, type Eraser, type Secrets } from './accounts/accounts.ts'
import { BossBell, cron, type Bell } from './bell/bell.ts'
import type { Config } from './config.ts'
import { followTime, migrate, openPglite, openPostgres, timeFollower, type Database } from './db/db.ts'
import { diagnose } from './doctor.ts'
import { openNats, type Nats } from './events/events.ts'
import { buildApp, httpServer, type App, type Finding, type Part } from './http/http.ts'
import { SystemClock, type Clock } from './kernel/clock.ts'
import { PacelineError } from './kernel/errors.ts'
import { folderClock } from './kernel/folder-clock.ts'
import { idMaker } from './kernel/ids.ts'
import { secure } from './kernel/random.ts'
import { service, serviceGroup, type Service } from './kernel/service.ts'
import { openRedis, type Redis } from './redis/redis.ts'
import type { Role } from './roles.ts'
import { listen, openMetrics, openTraces, type Log } from './telemetry/telemetry.ts'

/** The erasers of all rooms that keep data of an athlete; a test checks that no table is forgotten. */
export const erasers: readonly Eraser[] = []

export interface EngineOptions {
  readonly config: Config
  readonly version: string
  readonly log: Log
  /** Where the embedded store, the secrets and the clock's anchor live: the data folder, or the demo's own inside it. */
  readonly folder: string
  readonly demo: boolean
  /** How fast time runs; undefined: as fast as it did in this folder. */
  readonly speed: number | undefined
  readonly roles: readonly Role[]
}

export interface Engine {
  /** Listening and working; not needed by who only calls `app` in this process. */
  readonly service: Service
  readonly app: App
  readonly accounts: Accounts
  readonly secrets: Secrets
  /** The migrations that this opening applied. */
  readonly migrated: readonly string[]
  /** How others reach it. */
  publicUrl(): string
  /** How this machine reaches it, also where the public URL leads through a proxy elsewhere. */
  localUrl(): string
  close(): Promise<void>
}

export async function openEngine({ config, version, log, folder, demo, speed, roles }: EngineOptions): Promise<Engine> {
  // Whatever was opened is closed again, in reverse, when something after it fails.
  await using opening = new AsyncDisposableStack()
  const random = secure()
  const system = new SystemClock()
  const metrics = openMetrics({ clock: system, version })
  opening.defer(listen(log, metrics))
  const traces = await openTraces({ endpoint: config.otlpEndpoint, version })
  opening.defer(() => traces.stop())

  // The embedded store locks the folder: nothing else of the folder is touched before.
  const database = await openDatabase(config, folder, system)
  opening.defer(() => database.close())
  // Before anyone reads the clock: it never runs backwards, so it would stand still until the database's time has caught up.
  await followTime(system, database)
  const clock = folderClock(system, { folder, speed, anchor: config.clockAnchor })
  const newId = idMaker(clock, random)
  const secrets = openSecrets(folder, config, random)
  const migrated = await migrate(database)
  const servers = await openServers(config, system)
  opening.defer(() => servers.close())

  const accounts = new Accounts({ database, clock, random, newId, secrets })
  const bell = new BossBell(database, clock)
  const schedules = roles.includes('scheduler') ? scheduled({ bell, clock, accounts, database }) : []

  const app = await buildApp({
    version,
    demo,
    secure: config.publicUrl.startsWith('https:'),
    clock,
    newId,
    accounts,
    parts: [databasePart(database), ...servers.parts, workerPart(bell)],
    publicUrl: () => publicUrl(),
    metrics: async () => ({ contentType: metrics.contentType, text: await metrics.text() }),
    doctor: () => diagnose(config, { folder, database, redis: servers.redis, nats: servers.nats }),
  })
  const http = httpServer(app, config)
  const publicUrl = (): string => (config.port === 0 ? config.publicUrl.replace(/:0$/, `:${http.port()}`) : config.publicUrl)
  const localUrl = (): string => `http://${localHost(config.host)}:${http.port()}`
  const whole = serviceGroup('paceline', [
    timeFollower(system, database),
    bell.service,
    ...schedules,
    ...(roles.includes('api') ? [http.service] : []),
  ])
  const opened = opening.move()
  return {
    service: whole,
    app,
    accounts,
    secrets,
    migrated,
    publicUrl,
    localUrl,
    close: async () => {
      try {
        await whole.stop()
      } finally {
        await opened.disposeAsync()
      }
    },
  }
}

async function openDatabase(config: Config, folder: string, clock: Clock): Promise<Database> {
  return config.postgresUrl === undefined ? await openPglite({ folder }) : await openPostgres({ url: config.postgresUrl, clock })
}

/** A server that listens everywhere is asked here. */
function localHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

interface Servers {
  readonly redis: Redis | undefined
  readonly nats: Nats | undefined
  readonly parts: readonly Part[]
  close(): Promise<void>
}

/** Redis and NATS where they are configured. Both may be away at the start and come later: readyz says so until then. */
async function openServers({ redisUrl, redisToken, natsUrl }: Config, clock: Clock): Promise<Servers> {
  const redis =
    redisUrl === undefined
      ? undefined
      : await openRedis({ url: redisUrl, clock, ...(redisToken !== undefined && { token: redisToken }) })
  const nats = natsUrl === undefined ? undefined : await openNats({ url: natsUrl, clock })
  return {
    redis,
    nats,
    parts: [
      ...(redis ? [{ name: 'budget', check: () => redis.ping() }] : []),
      ...(nats ? [{ name: 'bus', check: () => nats.ping() }] : []),
    ],
    close: async () => {
      await Promise.all([redis?.close(), nats?.close()])
    },
  }
}

function databasePart(database: Database): Part {
  return {
    name: 'database',
    check: async () => {
      await database.query('select 1')
    },
  }
}

function workerPart(bell: Bell): Part {
  return {
    name: 'worker',
    check: () =>
      bell.service.state === 'running' ? Promise.resolve() : Promise.reject(new Error(`the bell is ${bell.service.state}`)),
  }
}

interface Scheduled {
  readonly bell: Bell
  readonly clock: Clock
  readonly accounts: Accounts
  readonly database: Database
}

function scheduled({ bell, clock, accounts, database }: Scheduled): Service[] {
  const work: Record<string, { expression: string; work: () => Promise<void> }> = {
    'accounts-prune': { expression: '40 3 * * *', work: () => accounts.prune() },
    // PGlite has no autovacuum; without it 20,000 finished jobs take 18 MB instead of 2.
    ...(database.kind === 'pglite' && { 'store-vacuum': { expression: '20 3 * * *', work: () => vacuum(database) } }),
  }
  const starts = Object.entries(work).map(([name, schedule]) => cron(bell, clock, name, schedule))
  return [
    service('schedules', {
      open: async () => {
        for (const start of starts) await start()
      },
      shut: () => undefined,
    }),
  ]
}

async function vacuum(database: Database): Promise<void> {
  await database.query('vacuum analyze')
}

/** The system check when nothing runs: what there is, is opened, looked at and closed again. */
export async function examine(config: Config, folder: string): Promise<Finding[]> {
  await using opened = new AsyncDisposableStack()
  const clock = new SystemClock()
  const database = await storeToExamine(config, folder, clock)
  if (database !== undefined && 'close' in database) opened.defer(() => database.close())
  const servers = await openServers(config, clock)
  opened.defer(() => servers.close())
  return await diagnose(config, { folder, database, redis: servers.redis, nats: servers.nats })
}

async function storeToExamine(config: Config, folder: string, clock: Clock): Promise<Database | PacelineError | undefined> {
  if (config.postgresUrl === undefined && !existsSync(join(folder, 'store'))) return undefined
  return await openDatabase(config, folder, clock).catch((error: unknown) => {
    if (error instanceof PacelineError) return error
    throw error
  })
}
