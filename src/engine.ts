// The composition root: which adapters are in use, what each room is given, and the order in which everything starts and
// stops. Read it to see the house at once; it decides nothing else.
import { Activities, activitiesEraser } from './activities/activities.ts'
import { Accounts, Connections, openSecrets, Erasure, SecretBox, type Secrets } from './accounts/accounts.ts'
import { BossBell, cron, type Bell } from './bell/bell.ts'
import { Calls, type Fetch } from './calls/calls.ts'
import type { Config } from './config.ts'
import { followTime, migrate, timeFollower, type Database, type Eraser } from './db/db.ts'
import { diagnose } from './doctor.ts'
import { outboxEraser } from './events/events.ts'
import { buildApp, httpServer, type App } from './http/http.ts'
import { SystemClock, type Clock } from './kernel/clock.ts'
import { folderClock } from './kernel/folder-clock.ts'
import { Imports, importsEraser } from './imports/imports.ts'
import { Inbox } from './inbox/inbox.ts'
import { idMaker, type NewId } from './kernel/ids.ts'
import { secure, type Random } from './kernel/random.ts'
import { service, serviceGroup, type Service } from './kernel/service.ts'
import { Slots } from './kernel/slots.ts'
import { Quota, quotaEraser } from './quota/quota.ts'
import type { Redis } from './redis/redis.ts'
import type { Role } from './roles.ts'
import { databasePart, openDatabase, openServers, workerPart } from './servers.ts'
import { SleepIngest, sleepEraser } from './sleep/sleep.ts'
import { openVendor, vendorNames, type OpenVendor, type VendorName } from './vendors/vendors.ts'
import { openSimulator } from './simulator/simulator.ts'
import { RedisLock, RowLock, Streams, streamsEraser } from './streams/streams.ts'
import { listen, openMetrics, openTraces, type Log, type Metrics } from './telemetry/telemetry.ts'

/**
 * The erasers of all rooms that keep data of an athlete; a test checks that no table is forgotten. Imports first: taking an import's row
 * away waits for what it is storing, so that the others find it.
 */
export const erasers: readonly Eraser[] = [importsEraser, streamsEraser, quotaEraser, activitiesEraser, sleepEraser, outboxEraser]

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
  readonly connections: Connections
  readonly imports: Imports
  readonly streams: Streams
  readonly secrets: Secrets
  /** The migrations that this opening applied. */
  readonly migrated: readonly string[]
  /** How others reach it. */
  publicUrl(): string
  /** How this machine reaches it, also where the public URL leads through a proxy elsewhere. */
  localUrl(): string
  close(): Promise<void>
}

export async function openEngine(options: EngineOptions): Promise<Engine> {
  const { config, version, demo, folder, roles } = options
  // Whatever was opened is closed again, in reverse, when something after it fails.
  await using opening = new AsyncDisposableStack()
  const foundation = await openFoundation(opening, options)
  const { system, clock, database, newId, metrics, secrets } = foundation
  const servers = await openServers(config, system)
  opening.defer(() => servers.close())

  const simulator = demo ? openSimulator({ clock, living: true, publicUrl: `${config.publicUrl}${SIMULATED}` }) : undefined
  opening.defer(() => simulator?.close())
  const vendor = simulator ? simulatedVendors(() => publicUrl()) : vendorsOf(config)
  const vendors = (): VendorName[] => vendorNames.filter(name => vendor(name) !== undefined)
  const quota = quotaOf(foundation, config, servers.redis, vendors)
  const bell = new BossBell(database, clock)
  const outside = { quota, bell, vendor, redis: servers.redis, fetch: simulator?.fetch ?? fetch, publicUrl: () => publicUrl() }
  const rooms = roomsOf({ ...foundation, ...outside }, config)
  const schedules = roles.includes('scheduler') ? scheduled({ ...rooms, quota, bell, clock, database }) : []

  const app = await buildApp({
    ...rooms,
    quota,
    database,
    vendors,
    version,
    demo,
    secure: config.publicUrl.startsWith('https:'),
    clock,
    newId,
    simulated: simulator,
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
    ...workers(rooms, roles),
    bell.service,
    ...schedules,
    ...(roles.includes('api') ? [http.service] : []),
  ])
  const opened = opening.move()
  return {
    service: whole,
    app,
    ...rooms,
    secrets,
    migrated: foundation.migrated,
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

/** Streams are fetched also where nobody works them off: for whoever opens an activity. */
const workers = ({ imports, streams }: Rooms, roles: readonly Role[]): Service[] =>
  roles.includes('worker') ? [imports.work(), streams.work()] : [streams.service]

/** What everything else stands on. */
interface Foundation {
  readonly system: SystemClock
  readonly clock: Clock
  readonly random: Random
  readonly newId: NewId
  readonly metrics: Metrics
  readonly database: Database
  readonly secrets: Secrets
  readonly migrated: readonly string[]
}

async function openFoundation(
  opening: AsyncDisposableStack,
  { config, version, log, folder, speed }: EngineOptions,
): Promise<Foundation> {
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
  const secrets = openSecrets(folder, config, random)
  const migrated = await migrate(database)
  return { system, clock, random, newId: idMaker(clock, random), metrics, database, secrets, migrated }
}

interface Rooms {
  readonly accounts: Accounts
  readonly connections: Connections
  readonly erasure: Erasure
  readonly activities: Activities
  readonly imports: Imports
  readonly streams: Streams
  readonly inbox: Inbox
}

interface Outside {
  readonly quota: Quota
  readonly redis: Redis | undefined
  readonly bell: Bell
  readonly vendor: (name: VendorName) => OpenVendor | undefined
  readonly fetch: Fetch
  readonly publicUrl: () => string
}

function roomsOf(foundation: Foundation & Outside, config: Config): Rooms {
  const { fetch, random, secrets, quota } = foundation
  const slots = Object.fromEntries(vendorNames.map(name => [name, new Slots(config.streams.concurrency)])) as Record<
    VendorName,
    Slots
  >
  const calls = new Calls({ ...foundation, fetch, permits: quota.take, slots: name => slots[name] })
  const connections = new Connections({ ...foundation, calls, box: new SecretBox(secrets.keys, random) })
  const retentionDays = (name: VendorName): number | undefined => config.vendors[name].retentionDays
  const erasure = new Erasure({ ...foundation, connections, erasers, retentionDays })
  const activities = new Activities(foundation)
  const accounts = new Accounts(foundation)
  const ingest = new SleepIngest(foundation)
  const streams = streamsOf(foundation, connections, config)
  const imports = new Imports({
    ...foundation,
    accounts,
    connections,
    activities,
    ingest,
    onNews: (...news) => streams.arrived(...news),
    pollMinutes: config.pollMinutes,
    isAlone: foundation.database.kind === 'pglite',
  })
  foundation.metrics.collect('imports', () => imports.gauges())
  const inbox = new Inbox({ ...foundation, connections, erasure, imports, streams })
  return { accounts, connections, erasure, activities, imports, streams, inbox }
}

function streamsOf(foundation: Foundation & Outside, connections: Connections, config: Config): Streams {
  const { redis, metrics } = foundation
  const lock = redis === undefined ? new RowLock(foundation) : new RedisLock(redis)
  const settings = { settleMs: config.streams.settleMs, order: config.quota.backfillOrder }
  const streams = new Streams({ ...foundation, connections, lock, ...settings })
  metrics.collect('streams', () => streams.gauges())
  return streams
}

function quotaOf(foundation: Foundation, config: Config, redis: Redis | undefined, vendors: () => VendorName[]): Quota {
  const { strava } = config.vendors
  const limits = { strava: { ...bothWindows('read', strava.readLimit), ...bothWindows('overall', strava.overallLimit) } }
  const serverTime = foundation.clock === foundation.system
  const quota = new Quota({ ...foundation, redis, serverTime, settings: { ...config.quota, limits } })
  foundation.metrics.collect('quota', () => quota.gauges(vendors()))
  return quota
}

const bothWindows = (pool: string, { short, day }: { short: number; day: number }): Record<string, number> => ({
  [`${pool}:15min`]: short,
  [`${pool}:day`]: day,
})

/** Where the demo's vendors answer on this server's own port. */
const SIMULATED = '/_sim'

const simulatedVendors =
  (publicUrl: () => string) =>
  (name: VendorName): OpenVendor =>
    openVendor(name, { clientId: 'demo', clientSecret: 'demo', baseUrl: `${publicUrl()}${SIMULATED}/${name}` })

/** The vendors that the operator gave credentials for. */
function vendorsOf(config: Config): (name: VendorName) => OpenVendor | undefined {
  const opened = vendorNames.flatMap(name => {
    const { clientId, clientSecret, ...more } = config.vendors[name]
    if (clientId === undefined || clientSecret === undefined) return []
    return [[name, openVendor(name, { clientId, clientSecret, ...more })] as const]
  })
  const known = new Map<VendorName, OpenVendor>(opened)
  return name => known.get(name)
}

/** A server that listens everywhere is asked here. */
function localHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

interface Scheduled extends Rooms {
  readonly quota: Quota
  readonly bell: Bell
  readonly clock: Clock
  readonly database: Database
}

function scheduled({ bell, clock, accounts, connections, erasure, imports, streams, quota, database }: Scheduled): Service[] {
  const work: Record<string, { expression: string; work: () => Promise<void> }> = {
    'accounts-prune': {
      expression: '40 3 * * *',
      work: async () => {
        await accounts.prune()
        await connections.prune()
      },
    },
    'quota-prune': { expression: '45 3 * * *', work: () => quota.prune() },
    retention: {
      expression: '50 3 * * *',
      work: async () => {
        for (const name of vendorNames) await erasure.retain(name)
      },
    },
    // PGlite has no autovacuum; without it 20,000 finished jobs take 18 MB instead of 2.
    ...(database.kind === 'pglite' && { 'store-vacuum': { expression: '20 3 * * *', work: () => vacuum(database) } }),
  }
  const starts = [
    ...Object.entries(work).map(([name, schedule]) => cron(bell, clock, name, schedule)),
    ...imports.schedules(),
    ...streams.schedules(),
  ]
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
