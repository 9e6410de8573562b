// The door. Knows what history has been fetched and what is owed, and fetches it: over hours or days, through pauses, restarts and
// failures. Laws:
// - one live import per athlete and vendor; asking again gives the one that runs;
// - rows and cursor commit together: what was answered and stored is not asked for again, whatever is killed when;
// - no request leaves during a pause; a pause ends by itself;
// - a connection's last sync moves when an import completes, to the import's start.
import type { Activities, Counts } from '../activities/activities.ts'
import type { Accounts, Connections } from '../accounts/accounts.ts'
import { cron, type Bell } from '../bell/bell.ts'
import type { Database, Queryable } from '../db/db.ts'
import type { Clock } from '../kernel/clock.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Service } from '../kernel/service.ts'
import type { Quota } from '../quota/quota.ts'
import type { SleepIngest } from '../sleep/sleep.ts'
import { vendors, type GarminSummary, type OpenVendor, type VendorName } from '../vendors/vendors.ts'
import type { Problem } from './cursor.ts'
import type { Ending } from './fetching.ts'
import { importLifecycle, type ImportStatus } from './job-lifecycle.ts'
import { JobStore, type ImportJob, type ImportType } from './job-store.ts'
import { storePushed } from './garmin-push.ts'
import { NOUNS, runImporter } from './importers.ts'
import { messageOf } from './messages.ts'
import { dueForImport } from './polling.ts'
import { Run } from './run.ts'
import { IMPORT_BELL, ImportWorker } from './worker.ts'

export { importLifecycle, importStatuses, type ImportStatus } from './job-lifecycle.ts'
export { importsEraser } from './eraser.ts'
export type { ImportType } from './job-store.ts'

export interface ImportsParts {
  readonly database: Database
  readonly clock: Clock
  readonly newId: NewId
  readonly bell: Bell
  readonly accounts: Pick<Accounts, 'timezoneOf'>
  readonly connections: Connections
  readonly activities: Activities
  readonly ingest: SleepIngest
  readonly quota: Pick<Quota, 'forecast' | 'leave' | 'vendorState'>
  readonly vendor: (name: VendorName) => OpenVendor | undefined
  /** Hears of what an import found that was not here before, after it was stored. */
  readonly onNews: (athleteId: string, vendor: VendorName, externalIds: readonly string[]) => Promise<void>
  readonly pollMinutes: number
  /** No other process can have the store. */
  readonly isAlone?: boolean
}

export type Started =
  | { readonly outcome: 'new' | 'running'; readonly job: ImportJob }
  | { readonly outcome: 'not_connected' | 'needs_reauth' }

export interface ImportView {
  readonly job: ImportJob
  readonly progress: {
    readonly listed: number
    readonly detailed: number
    readonly photos: number
    readonly total: number | undefined
  }
  readonly eta: number | undefined
  readonly message: string
  readonly problems: readonly Problem[]
}

export interface ImportGauge {
  readonly name: string
  readonly help: string
  readonly labels: { readonly status: string }
  readonly value: number
}

/** How far an incremental import looks back: late uploads and edits of the last days are found. */
const LOOK_BACK_MS = 7 * 86_400_000
const KEPT_MS = 90 * 86_400_000

export class Imports {
  readonly #parts: ImportsParts
  readonly #store: JobStore
  readonly #worker: ImportWorker

  constructor(parts: ImportsParts) {
    this.#parts = parts
    this.#store = new JobStore(parts.database)
    this.#worker = new ImportWorker({
      ...parts,
      store: this.#store,
      owner: parts.newId(),
      synced: (tx, { athleteId, vendor }, at) => parts.connections.synced(tx, athleteId, vendor, at),
      run: (job, leaseMs, signal) => this.#run(job, leaseMs, signal),
    })
  }

  /** Has this process run imports; declared before the bell starts. */
  work(): Service {
    this.#worker.answer()
    return this.#worker.service
  }

  /** Rings for due imports every minute and starts those that nobody asked for; declared before the bell starts. */
  schedules(): (() => Promise<void>)[] {
    const { bell, clock } = this.#parts
    const every = (name: string, expression: string, work: () => Promise<void>) => cron(bell, clock, name, { expression, work })
    return [
      every('imports-sweep', '* * * * *', async () => {
        // The safety net first, and whatever becomes of it, the rest.
        try {
          await this.#worker.sweep()
        } finally {
          await this.poll()
        }
      }),
      every('imports-prune', '10 4 * * *', () => this.#store.prune(clock.now() - KEPT_MS)),
    ]
  }

  async start(athleteId: string, vendor: VendorName, wish: { type: ImportType; restart?: boolean }): Promise<Started> {
    const { newId, bell, clock, connections } = this.#parts
    const connection = await connections.find(athleteId, vendor)
    if (connection === undefined) return { outcome: 'not_connected' }
    if (connection.status !== 'active') return { outcome: 'needs_reauth' }
    // Without a complete sync there is nothing to add to.
    const type = connection.lastSyncAt === null ? 'full' : wish.type
    const wanted = { athleteId, vendor, type, restart: wish.restart ?? false, connectedAt: connection.connectedAt }
    const job = await this.#store.create(newId(), wanted, clock.now())
    if (job !== undefined) {
      await bell.ring(IMPORT_BELL, job.id, clock.now())
      return { outcome: 'new', job }
    }
    const live = await this.#store.live(wanted)
    // It ended between the two looks: then there is room for another one.
    return live === undefined ? await this.start(athleteId, vendor, wish) : { outcome: 'running', job: live }
  }

  /** Connecting starts a full import; afterwards what is new is looked for every so often. */
  async poll(): Promise<void> {
    for (const { athleteId, vendor } of await dueForImport(this.#parts, this.#store))
      await this.start(athleteId, vendor, { type: 'incremental' })
  }

  /** What Garmin sent, asked for or not; in the caller's transaction. */
  async pushed(athleteId: string, summaries: readonly GarminSummary[], tx: Queryable): Promise<void> {
    await storePushed(tx, this.#parts, { athleteId, summaries, heardAt: this.#parts.clock.now() })
  }

  async list(athleteId: string, page: { after: string | undefined; limit: number }): Promise<ImportView[]> {
    const jobs = await this.#store.list(athleteId, page)
    return await Promise.all(jobs.map(job => this.view(job)))
  }

  async read(athleteId: string, id: string): Promise<ImportView | undefined> {
    const job = await this.#store.read(athleteId, id)
    return job && (await this.view(job))
  }

  /** The ids of those that have not ended. */
  async underWay(athleteId: string): Promise<string[]> {
    return await this.#store.underWay(athleteId)
  }

  async gauges(): Promise<ImportGauge[]> {
    const counts = await this.#store.byStatus()
    return Object.keys(importLifecycle.states).map(status => ({
      name: 'paceline_import_status',
      help: 'Imports by status',
      labels: { status },
      value: counts.get(status as ImportStatus) ?? 0,
    }))
  }

  /** What is told about it. */
  async view(job: ImportJob): Promise<ImportView> {
    const { accounts, activities, clock } = this.#parts
    const counts = await this.#counts(job)
    const zone = (await accounts.timezoneOf(job.athleteId)) ?? (await activities.lastZone(job.athleteId)) ?? 'UTC'
    const told = {
      status: job.status,
      imported: job.cursor.activities_imported,
      total: job.total,
      retryAfter: job.retryAfter?.getTime(),
      pause: job.pause,
      error: job.error,
      noun: NOUNS[job.vendor],
    }
    return {
      job,
      progress: { listed: counts.listed, detailed: counts.detailed, photos: counts.photosSynced, total: job.total },
      eta: await this.#eta(job, counts),
      message: messageOf(told, zone, clock.now()),
      problems: job.problems,
    }
  }

  /** Nights and check-ins are whole when they are listed. */
  async #counts({ athleteId, vendor, cursor }: ImportJob): Promise<Counts> {
    if (vendor === 'strava') return await this.#parts.activities.counts(athleteId, vendor)
    const listed = cursor.activities_imported
    return { listed, detailed: listed, parked: 0, photosOwed: 0, photosSynced: 0 }
  }

  /** When the details and photos that are owed will be here, the other athletes' imports considered. */
  async #eta(job: ImportJob, { listed, detailed, parked, photosOwed }: Counts): Promise<number | undefined> {
    if (job.total === undefined || job.status === 'completed' || job.status === 'failed' || job.vendor !== 'strava')
      return undefined
    const others = await this.#store.othersOwe(job)
    return await this.#parts.quota.forecast(job.vendor, { mine: listed - detailed - parked + photosOwed, others })
  }

  async #run(job: ImportJob, leaseMs: number, signal: AbortSignal): Promise<Ending> {
    const { database, clock, connections, vendor, quota } = this.#parts
    const open = vendor(job.vendor)
    const connection = await connections.find(job.athleteId, job.vendor)
    if (open === undefined || connection === undefined) {
      return {
        ending: 'failed',
        code: 'PACE_NOT_CONNECTED',
        sentence: `${vendors[job.vendor].facts.title} is not connected any more.`,
      }
    }
    const since = job.type === 'full' ? undefined : connection.lastSyncAt
    const run = new Run(
      {
        database,
        clock,
        store: this.#store,
        facts: open.facts,
        call: (request, options) => connections.call(connection.id, request, options),
        signal,
        leaseMs,
        since: since ? since.getTime() - LOOK_BACK_MS : undefined,
      },
      job,
    )
    const ending = await runImporter(run, open, this.#parts)
    // Who waits for the vendor to send wants no permit.
    if (ending.ending !== 'paused' || ending.cause === 'push')
      await quota.leave({ vendor: job.vendor, athleteId: job.athleteId, rank: 2 })
    return ending
  }
}
