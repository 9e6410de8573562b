// What the operator sees of the streams: how many are in which state, what was tried how often, and how full the window is.
import { loadQueries, type Database } from '../db/db.ts'
import type { Clock } from '../kernel/clock.ts'
import { DAY_MS } from '../kernel/durations.ts'
import type { Quota, VendorState } from '../quota/quota.ts'
import { streamStatuses, type StreamStatus } from '../activities/activities.ts'
import { ATTEMPTS_MAX } from './stream-store.ts'

const sql = loadQueries(new URL('overview.sql', import.meta.url), {
  statuses: [],
  retries: [],
  athletes: [],
})

type Counts = Readonly<Record<StreamStatus, number>>

export interface StreamsOverview {
  readonly status: Counts
  /** Failed ones by the number of their attempts. */
  readonly retries: Readonly<Record<string, number>>
  /** How often the vendor said "too many" to a stream call in the last 24 hours. */
  readonly rateLimited24h: number
  /** The vendor's present short window; null where it is not known. */
  readonly window: VendorState['pools'][number]['windows'][number] | null
  /** Failed for good, until somebody resets them. */
  readonly stuck: number
  readonly athletes: readonly ({ readonly athleteId: string } & Counts)[]
}

export interface StreamsGauge {
  readonly name: string
  readonly help: string
  readonly labels: { readonly status: StreamStatus }
  readonly value: number
}

interface OverviewParts {
  readonly database: Database
  readonly clock: Clock
  readonly quota: Pick<Quota, 'vendorState' | 'refusals'>
}

const [VENDOR, ENDPOINT, POOL] = ['strava', 'activity-streams', 'read'] as const

export class Overview {
  readonly #parts: OverviewParts

  constructor(parts: OverviewParts) {
    this.#parts = parts
  }

  async all(): Promise<StreamsOverview> {
    const { database, clock, quota } = this.#parts
    const retries = await database.query<{ retries: number; count: number }>(sql.retries())
    const { pools } = await quota.vendorState(VENDOR)
    return {
      status: await this.#statuses(),
      retries: Object.fromEntries(retries.map(row => [String(row.retries), row.count])),
      rateLimited24h: await quota.refusals(VENDOR, ENDPOINT, clock.now() - DAY_MS),
      window: pools.find(({ pool }) => pool === POOL)?.windows[0] ?? null,
      stuck: retries.filter(row => row.retries >= ATTEMPTS_MAX).reduce((sum, { count }) => sum + count, 0),
      athletes: await database.query(sql.athletes()),
    }
  }

  async gauges(): Promise<StreamsGauge[]> {
    const help = 'Activities by the state of their streams'
    return Object.entries(await this.#statuses()).map(([status, value]) => ({
      name: 'paceline_stream_status',
      help,
      labels: { status: status as StreamStatus },
      value,
    }))
  }

  async #statuses(): Promise<Counts> {
    const rows = await this.#parts.database.query<{ status: StreamStatus; count: number }>(sql.statuses())
    const none = streamStatuses.map(status => [status, 0] as const)
    return Object.fromEntries([...none, ...rows.map(({ status, count }) => [status, count] as const)]) as Counts
  }
}
