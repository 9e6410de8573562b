// Athletes with a simulated history and everything that imports it, on virtual time. Strava unless said.
import assert from 'node:assert/strict'
import type { Database } from '../src/db/db.ts'
import type { Imports, ImportView } from '../src/imports/imports.ts'
import type { ImportStatus } from '../src/imports/job-lifecycle.ts'
import { DAY_MS } from './durations.ts'
import type { SimulatorOptions } from '../src/simulator/simulator.ts'
import type { Work } from '../src/work/work.ts'
import { PUBLIC_URL, type Given } from './rooms.ts'
import { LONGEST_MS, World, type Process, type WorldBase } from './world.ts'

export type { Process } from './world.ts'

const STEP_MS = 10_000
/** So seldom that no poll comes into a test that does not ask for it. */
const SELDOM_MINUTES = 43_200

export interface WorldOptions extends WorldBase {
  readonly activities: number
  readonly nights?: number
  readonly checkinDays?: number
  readonly pollMinutes?: number
  readonly retentionDays?: number
  readonly settleMs?: number
  readonly quirks?: SimulatorOptions['quirks']
  /** How closely a test looks on; each look costs a query. */
  readonly stepMs?: number
}

export interface ProcessOptions extends Pick<Given, 'cache' | 'redis' | 'fetch'> {
  /** Works off streams too, as the whole program does. */
  readonly withStreams?: boolean
  readonly retentionDays?: () => number | undefined
}

/** One metered request that reached the vendor. */
export interface Asked {
  readonly at: number
  readonly path: string
}

export class ImportWorld extends World {
  readonly asked: Asked[] = []
  readonly #options: WorldOptions
  /** Hears of every answer before its process does. */
  onAnswer: (path: string) => void = () => undefined

  constructor(database: Database, options: WorldOptions) {
    const { activities, nights = 1, checkinDays, quirks } = options
    const history = { activities, nights, ...(checkinDays !== undefined && { checkinDays }), ...(quirks && { quirks }) }
    super(database, options, { ...history, webhooksUrl: `${PUBLIC_URL}/webhooks` })
    this.#options = options
  }

  process(options: ProcessOptions = {}): Process {
    const { pollMinutes = SELDOM_MINUTES, retentionDays: days, settleMs } = this.#options
    const { withStreams = false, retentionDays = () => days, ...outside } = options
    const settings = { pollMinutes, retentionDays, ...(settleMs !== undefined && { settleMs }) }
    return this.open({ ...outside, settings }, ({ imports, streams, work, worker }) => {
      if (withStreams)
        return {
          services: [streams.work(), worker, imports.watching],
          schedules: [...imports.schedules(), ...streams.schedules()],
        }
      return { services: [work.worker(this.#importsOnly(imports)), imports.watching], schedules: imports.schedules() }
    })
  }

  #importsOnly(imports: Imports): Parameters<Work['worker']>[0] {
    return {
      vendors: () => [this.vendorName],
      sources: { live: [imports.source], backfill: [imports.source] },
      onClosed: (gate, busy) => imports.waitFor(gate, busy),
    }
  }

  protected override asks(path: string, _url: URL): void {
    if (!path.endsWith('/oauth/token')) this.asked.push({ at: this.clock.now(), path })
  }

  protected override answers(path: string): void {
    this.onAnswer(path)
  }

  /** The newest import of an athlete. */
  async newest({ imports }: Pick<Process, 'imports'>, athleteId = this.athleteId): Promise<ImportView> {
    const [view] = await imports.list(athleteId, { after: undefined, limit: 1 })
    assert(view, 'there is no import')
    return view
  }

  /** Runs until the newest import is in one of these states. */
  async until(process: Process, statuses: readonly ImportStatus[], athleteId = this.athleteId): Promise<ImportView> {
    const newest = 'select status from import_jobs where athlete_id = $1 order by id desc limit 1'
    const giveUpAt = this.clock.now() + LONGEST_MS
    for (;;) {
      assert(this.clock.now() < giveUpAt, `no import was ${statuses.join(' or ')} for ${LONGEST_MS / DAY_MS} days`)
      const [job] = await this.database.query<{ status: ImportStatus }>(newest, [athleteId])
      if (job !== undefined && statuses.includes(job.status)) return await this.newest(process, athleteId)
      await this.clock.sleep(this.#options.stepMs ?? STEP_MS)
    }
  }

  async untilDone(process: Process, athleteId = this.athleteId): Promise<ImportView> {
    return await this.until(process, ['completed', 'failed'], athleteId)
  }

  async untilPaused(process: Process): Promise<ImportView> {
    return await this.until(process, ['rate_limited'])
  }

  /** What arrived at the vendor, by path. */
  requests(path: RegExp): string[] {
    return this.asked.filter(one => path.test(one.path)).map(one => one.path)
  }
}
