// The composition root: which adapters are in use, what each room gets, and the order in which everything starts and stops. It decides
// nothing else.
import { openSecrets, type Accounts, type Connections, type Secrets } from './accounts/accounts.ts'
import { RowBell, type Bell } from './bell/bell.ts'
import { callSlots } from './calls/calls.ts'
import type { Config } from './config.ts'
import { followTime, migrate, timeFollower, type Database, type FolderLock } from './db/db.ts'
import { diagnose } from './doctor.ts'
import type { Consumer } from './events/events.ts'
import { buildApp, buildHealthApp, holdPort, httpServer } from './http/http.ts'
import type { App, HealthParts, HeldPort, Part } from './http/http.ts'
import { SystemClock, type Clock } from './kernel/clock.ts'
import { folderClock } from './kernel/folder-clock.ts'
import type { Imports } from './imports/imports.ts'
import { idMaker, type NewId } from './kernel/ids.ts'
import { secure, type Random } from './kernel/random.ts'
import { serviceGroup, type Service } from './kernel/service.ts'
import type { Role } from './roles.ts'
import { roomsOf, type Rooms, type RoomSettings } from './rooms.ts'
import { scheduled } from './schedules.ts'
import {
  consumerParts,
  databasePart,
  hasStore,
  lockStore,
  openBus,
  openDatabase,
  openServers,
  relayPart,
  vendorParts,
  workerPart,
} from './servers.ts'
import { openVendor, vendorNames, type OpenVendor, type VendorName } from './vendors/vendors.ts'
import { openSimulator, VENDORS as SIMULATED_VENDORS, type Simulator } from './simulator/simulator.ts'
import type { Streams } from './streams/streams.ts'
import { listen, openMetrics, openTraces, type Log, type Metrics } from './telemetry/telemetry.ts'

export interface EngineOptions {
  readonly config: Config
  readonly version: string
  readonly log: Log
  /** The folder of the embedded store, the secrets and the clock's anchor: the data folder, or the demo's own inside it. */
  readonly folder: string
  readonly demo: boolean
  /** How fast time runs; undefined: as fast as in this folder so far. */
  readonly speed: number | undefined
  readonly roles: readonly Role[]
  /** Hears what takes long at a first start, and how long it took. */
  readonly progress?: (sentence: string) => void
}

export interface Engine {
  /** Starts the listening and the work. A caller that only uses `app` in this process need not start it. */
  readonly service: Service
  readonly app: App
  readonly accounts: Accounts
  readonly connections: Connections
  readonly imports: Imports
  readonly streams: Streams
  readonly secrets: Secrets
  /** The migrations applied when this engine opened. */
  readonly migrated: readonly string[]
  /** The address that browsers and vendors use. */
  publicUrl(): string
  /** The server's address on this machine, without any proxy. */
  localUrl(): string
  /** Where it answers for health and metrics besides; undefined unless configured. */
  healthUrl(): string | undefined
  close(): Promise<void>
}

export async function openEngine(options: EngineOptions): Promise<Engine> {
  const { config, demo, folder, roles } = options
  // When a later step fails, everything opened before is closed in reverse order.
  await using opening = new AsyncDisposableStack()
  const taken = await takeAtOnce(opening, options)
  const foundation = await openFoundation(opening, options, taken.lock)
  const { system, clock, database, metrics, secrets } = foundation
  const servers = await openServers(config, system)
  opening.defer(() => servers.close())
  const simulator = demo ? simulatorAt(config.publicUrl, clock) : undefined
  opening.defer(() => simulator?.close())
  const vendor = simulator ? simulatedVendors(() => publicUrl()) : vendorsOf(config)
  const vendors = (): VendorName[] => vendorNames.filter(name => (simulator ? isSimulated(name) : vendor(name) !== undefined))
  const bell = new RowBell(database, clock)
  const bus = opening.adopt(openBus(config, { nats: servers.nats, database, clock: system }), made => made.close())
  const reached = { vendor, redis: servers.redis, fetch: simulator?.fetch ?? fetch, publicUrl: () => publicUrl() }
  const rooms = roomsOf({ ...foundation, ...reached, bell, bus, ...configured(foundation, config) })
  measure(metrics, rooms, { vendors, consumers: consumersOf(rooms, roles), clock })
  const answers = healthParts(foundation, options, partsOf({ ...rooms, ...options, servers, database, clock, vendors, bell }))
  const app = await buildApp({
    ...rooms,
    ...answers,
    database,
    vendors,
    secure: config.publicUrl.startsWith('https:'),
    simulated: simulator,
    publicUrl: () => publicUrl(),
    doctor: () => diagnose(config, { ...servers, folder, database, gates: () => rooms.work.closed() }),
  })
  const http = httpServer(app, taken.http)
  const health = taken.health && httpServer(buildHealthApp(answers), taken.health, 'health')
  const publicUrl = (): string => (config.port === 0 ? config.publicUrl.replace(/:0$/, `:${http.port()}`) : config.publicUrl)
  const whole = serviceGroup('paceline', [
    // First and last: a probe sees the start and the stop.
    ...(health ? [health.service] : []),
    timeFollower(system, database),
    ...workers(rooms, roles),
    bell.service,
    ...passing(rooms, roles),
    ...(roles.includes('scheduler') ? scheduled({ ...rooms, bell, clock, database }) : []),
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
    localUrl: () => `http://${localHost(config.host)}:${http.port()}`,
    healthUrl: () => health && `http://${localHost(config.host)}:${health.port()}`,
    close: async () => {
      try {
        await whole.stop()
      } finally {
        await opened.disposeAsync()
      }
    },
  }
}

const healthParts = (
  { clock, newId, metrics }: Foundation,
  { version, demo }: EngineOptions,
  parts: readonly Part[],
): HealthParts => ({
  version,
  demo,
  clock,
  newId,
  parts,
  metrics: async () => ({ contentType: metrics.contentType, text: await metrics.text() }),
})

interface Taken {
  readonly lock: FolderLock | undefined
  readonly http: HeldPort
  readonly health: HeldPort | undefined
}

/**
 * What can be refused at once, before the store opens, which may take long: the folder and the ports. One that does not serve the API, such
 * as a command that only opens the store, leaves the ports to others.
 */
async function takeAtOnce(opening: AsyncDisposableStack, { config, folder, roles }: EngineOptions): Promise<Taken> {
  const { host, port, healthPort } = config
  const lock = lockStore(config, folder)
  opening.defer(() => lock?.release())
  const hold = async (address: { port: number; variable?: string }): Promise<HeldPort> => {
    const held = await holdPort({ host, ...address })
    opening.defer(() => held.release())
    return held
  }
  return {
    lock,
    http: await hold({ port: roles.includes('api') ? port : 0 }),
    health:
      healthPort === undefined
        ? undefined
        : await hold({ port: roles.length > 0 ? healthPort : 0, variable: 'PACELINE_HEALTH_PORT' }),
  }
}

/** Whoever opens an activity has its detail and its streams fetched here, also without the worker role. */
const workers = ({ imports, streams, worker }: Rooms, roles: readonly Role[]): Service[] =>
  roles.includes('worker') ? [imports.refreshing, streams.work(), worker] : [imports.refreshing, streams.service]

const consumersOf = ({ normaliser, deadLetters }: Rooms, roles: readonly Role[]): Consumer[] =>
  roles.includes('normalize') ? [normaliser, deadLetters.consumer] : []

/** Events are passed on: those of the outbox to the bus, those of the bus to whoever consumes. */
const passing = (rooms: Rooms, roles: readonly Role[]): Service[] => [
  ...consumersOf(rooms, roles).map(consumer => consumer.service),
  ...(roles.includes('worker') ? [rooms.relay.service] : []),
]

interface PartsFor extends Rooms, Pick<EngineOptions, 'roles'> {
  readonly database: Database
  readonly clock: Clock
  readonly servers: { readonly parts: readonly Part[] }
  readonly vendors: () => VendorName[]
  readonly bell: Bell
}

/** What /readyz asks. */
const partsOf = ({ database, clock, servers, vendors, bell, roles, ...rooms }: PartsFor): Part[] => [
  databasePart(database),
  ...servers.parts,
  workerPart(rooms.work, roles.length > 0 ? bell : undefined),
  relayPart(rooms.relay, clock),
  ...consumerParts(consumersOf(rooms, roles)),
  ...vendorParts(vendors(), () => rooms.work.closed()),
]

/** What every room needs. */
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
  { config, version, log, folder, speed, progress }: EngineOptions,
  lock: FolderLock | undefined,
): Promise<Foundation> {
  const random = secure()
  const system = new SystemClock()
  const metrics = openMetrics({ clock: system, version })
  opening.defer(listen(log, metrics))
  const traces = await openTraces({ endpoint: config.otlpEndpoint, version })
  opening.defer(() => traces.stop())
  const told = tellingStart(config, folder, system, progress)
  const database = await openDatabase(config, folder, system, lock)
  opening.defer(() => database.close())
  // Before anyone reads the clock: it never runs backwards, so it would stand still until the database's time had caught up.
  await followTime(system, database)
  const clock = folderClock(system, { folder, speed, anchor: config.clockAnchor })
  const secrets = openSecrets(folder, config, random)
  const migrated = await migrate(database)
  if (migrated.length > 0) told()
  return { system, clock, random, newId: idMaker(clock, random), metrics, database, secrets, migrated }
}

/** Says what takes long when a store is made, and afterwards that it is there. */
function tellingStart(
  { postgresUrl }: Config,
  folder: string,
  clock: SystemClock,
  progress: EngineOptions['progress'],
): () => void {
  const since = clock.unfollowed()
  const isMade = postgresUrl === undefined && !hasStore(folder)
  if (isMade) progress?.(`Making the store in ${folder}, only now …`)
  return () => {
    const seconds = ((clock.unfollowed() - since) / 1000).toFixed(1)
    progress?.(`The store was ${isMade ? 'made' : 'brought up to this version'} in ${seconds} s.`)
  }
}

function configured({ system, clock, database }: Foundation, config: Config) {
  return {
    slots: callSlots(config.streams.concurrency),
    realClock: system,
    serverTime: clock === system,
    isAlone: database.kind === 'pglite',
    settings: settingsOf(config),
  }
}

function settingsOf({ vendors, quota, streams, pollMinutes, normaliseSleep, sleep, deadLetterDays }: Config): RoomSettings {
  const { readLimit, overallLimit } = vendors.strava
  return {
    quota: { ...quota, limits: { strava: { ...bothWindows('read', readLimit), ...bothWindows('overall', overallLimit) } } },
    pollMinutes,
    concurrency: streams.concurrency,
    settleMs: streams.settleMs,
    order: quota.backfillOrder,
    retentionDays: name => vendors[name].retentionDays,
    normaliseSleep,
    sleepPriority: sleep.priority,
    deadLetterDays,
  }
}

const bothWindows = (pool: string, { short, day }: { short: number; day: number }): Record<string, number> => ({
  [`${pool}:15min`]: short,
  [`${pool}:day`]: day,
})

interface Measured {
  readonly vendors: () => VendorName[]
  /** Each process speaks of its own. */
  readonly consumers: readonly Consumer[]
  readonly clock: Clock
}

function measure(metrics: Metrics, rooms: Rooms, { vendors, consumers, clock }: Measured): void {
  const { imports, streams, quota, work, relay } = rooms
  metrics.collect('quota', () => quota.gauges(vendors()))
  metrics.collect('streams', () => streams.gauges())
  metrics.collect('imports', () => imports.gauges())
  metrics.collect('work', () => work.gauges())
  metrics.collect('relay', () => relay.gauges(clock))
  for (const consumer of consumers) metrics.collect(consumer.durable, () => consumer.gauges())
}

/** The path under which the demo's vendors answer on this server's port. */
const SIMULATED = '/_sim'

const simulatorAt = (publicUrl: string, clock: Clock): Simulator =>
  openSimulator({ clock, living: true, publicUrl: `${publicUrl}${SIMULATED}` })

const isSimulated = (name: string): boolean => SIMULATED_VENDORS.some(simulated => simulated === name)

const simulatedVendors =
  (publicUrl: () => string) =>
  (name: VendorName): OpenVendor | undefined =>
    isSimulated(name)
      ? openVendor(name, { clientId: 'demo', clientSecret: 'demo', baseUrl: `${publicUrl()}${SIMULATED}/${name}` })
      : undefined

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

/** An address that means "all interfaces" is replaced by the local one. */
function localHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
