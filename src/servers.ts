// The servers that Paceline uses: the database, Redis, NATS. Opens those that are configured, and checks whether each answers.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Bell } from './bell/bell.ts'
import type { Config } from './config.ts'
import { lockFolder, openPglite, openPostgres, tellingOutages, type Database, type FolderLock } from './db/db.ts'
import { diagnose, isStravaInactive, STRAVA_INACTIVE, type HeldUp } from './doctor.ts'
import { JetStreamBus, openNats, RowBus, streamsOf, type Bus, type Consumer, type Nats, type Relay } from './events/events.ts'
import { PartFailure, type Finding, type Part } from './http/http.ts'
import { SystemClock, type Clock } from './kernel/clock.ts'
import { hasCode, PacelineError } from './kernel/errors.ts'
import { openRedis, type Redis } from './redis/redis.ts'
import type { VendorName } from './vendors/vendors.ts'
import { Gates, type Work } from './work/work.ts'

/** The folder of the embedded store is for one process. */
export const lockStore = ({ postgresUrl }: Config, folder: string): FolderLock | undefined =>
  postgresUrl === undefined ? lockFolder(folder) : undefined

export const hasStore = (folder: string): boolean => existsSync(join(folder, 'store'))

/** `lock`: where the folder is locked already. */
export async function openDatabase(config: Config, folder: string, clock: Clock, lock?: FolderLock): Promise<Database> {
  return config.postgresUrl === undefined
    ? await openPglite({ folder, ...(lock && { lock }) })
    : tellingOutages(await openPostgres({ url: config.postgresUrl, clock }))
}

interface Servers {
  readonly redis: Redis | undefined
  readonly nats: Nats | undefined
  readonly parts: readonly Part[]
  close(): Promise<void>
}

/** Opens Redis and NATS where configured. Both may be away at the start and come later; /readyz reports them until then. */
export async function openServers({ redisUrl, redisToken, natsUrl }: Config, clock: Clock): Promise<Servers> {
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

export function databasePart(database: Database): Part {
  return {
    name: 'database',
    serves: true,
    check: async () => {
      const [row] = await database.query<{ transaction_read_only: string }>('show transaction_read_only')
      if (row?.transaction_read_only !== 'off') throw new Error('it takes no writes')
    },
  }
}

/** NATS where there is one, else rows of the database. */
export function openBus({ deadLetterDays }: Config, { nats, database, clock }: BusParts): Bus {
  const streams = streamsOf(deadLetterDays)
  return nats === undefined ? new RowBus({ database, clock, streams }) : new JetStreamBus({ nats, clock, streams })
}

interface BusParts {
  readonly nats: Nats | undefined
  readonly database: Database
  /** In real time. */
  readonly clock: Clock
}

/** Of a process that consumes: whether its pulls are answered. */
export function consumerParts(consumers: readonly Consumer[]): Part[] {
  const check = async (): Promise<void> => {
    const stalled = consumers.filter(consumer => consumer.isStalled())
    if (stalled.length > 0)
      throw new PartFailure('stalled', `${stalled.map(({ durable }) => durable).join(', ')}: no pull was answered for a while`)
  }
  return consumers.length > 0 ? [{ name: 'consumer', check }] : []
}

/** Somebody must relay: events that wait in the outbox reach nobody. */
export function relayPart(relay: Relay, clock: Clock): Part {
  return {
    name: 'relay',
    check: async () => {
      const isBehind = await relay.isBehind(clock).catch(unlessAway)
      if (isBehind === true) throw new PartFailure('behind', 'events have waited in the outbox for over a minute')
    },
  }
}

/** Somebody must work, this process or another. `bell`: of a process that was started. */
export function workerPart(work: Pick<Work, 'workers'>, bell: Bell | undefined): Part {
  return {
    name: 'worker',
    check: async () => {
      if (bell !== undefined && bell.service.state !== 'running') throw new Error(`the bell is ${bell.service.state}`)
      const workers = await work.workers().catch(unlessAway)
      if (workers?.length === 0) throw new Error('no process with the role worker has been heard of for 90 seconds; start one')
    },
  }
}

/** A database that is away is a part of its own. */
function unlessAway(error: unknown): undefined {
  if (!hasCode(error, 'PACE_DATABASE_UNAVAILABLE')) throw error
}

/** Strava fails while it has the application switched off: every call of every athlete waits for the operator. */
export function vendorParts(vendors: readonly VendorName[], gates: HeldUp): Part[] {
  const check = async (): Promise<void> => {
    if (await isStravaInactive(gates)) throw new PartFailure('inactive', STRAVA_INACTIVE)
  }
  return vendors.includes('strava') ? [{ name: 'strava', check }] : []
}

/** The system check without a running server: opens everything, checks it and closes it again. */
export async function examine(config: Config, folder: string): Promise<Finding[]> {
  await using opened = new AsyncDisposableStack()
  const clock = new SystemClock()
  const database = await storeToExamine(config, folder, clock)
  if (database !== undefined && 'close' in database) opened.defer(() => database.close())
  const servers = await openServers(config, clock)
  opened.defer(() => servers.close())
  const gates = database !== undefined && 'close' in database ? new Gates({ database, clock }) : undefined
  const found = { folder, database, redis: servers.redis, nats: servers.nats }
  return await diagnose(config, { ...found, gates: gates && (() => gates.closed()) })
}

async function storeToExamine(config: Config, folder: string, clock: Clock): Promise<Database | PacelineError | undefined> {
  if (config.postgresUrl === undefined && !hasStore(folder)) return undefined
  return await openDatabase(config, folder, clock).catch((error: unknown) => {
    if (error instanceof PacelineError) return error
    throw error
  })
}
