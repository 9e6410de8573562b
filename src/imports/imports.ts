// The door. Fetches an athlete's history from a vendor, over hours or days, through pauses, restarts and failures. Laws:
// - one import of a history is at work; starting another gives the live one, but a full one is not answered by a poll: it comes after it;
// - rows and cursor commit together: nothing that was stored is requested again, whenever a process is killed;
// - no request leaves during a pause; a pause ends by itself;
// - a connection's last sync moves when an import completes, to the import's start.
import type { Activities } from '../activities/activities.ts'
import type { Accounts, AuthorisedOutcome, Connection, Connections } from '../accounts/accounts.ts'
import { cron, type Bell } from '../bell/bell.ts'
import type { CallOptions } from '../calls/calls.ts'
import type { Database, Queryable } from '../db/db.ts'
import type { Clock } from '../kernel/clock.ts'
import { DAY_MS } from '../kernel/durations.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Service } from '../kernel/service.ts'
import type { Quota } from '../quota/quota.ts'
import type { SleepIngest } from '../sleep/sleep.ts'
import {
  readingScopes,
  vendors,
  type GarminSummary,
  type OpenVendor,
  type VendorName,
  type VendorRequest,
} from '../vendors/vendors.ts'
import type { Claim, Gate, Source, Work } from '../work/work.ts'
import { importStatuses, type ImportStatus } from './job-lifecycle.ts'
import { ImportSource } from './import-source.ts'
import { JobStore, type ImportJob, type ImportType, type Waiting } from './job-store.ts'
import { storePushed } from './garmin-push.ts'
import { importers, runImporter } from './importers.ts'
import { consentWatch } from './consent-watch.ts'
import { CALLS_PER_POLL, lookEveryMs, Polling } from './polling.ts'
import { Eta } from './eta.ts'
import { ImportViews, type ImportView } from './import-views.ts'
import { DetailRefresh } from './refresh.ts'
import type { Ending } from './run.ts'
import { tellMove } from './telling.ts'

export type { ImportView } from './import-views.ts'
export { importLifecycle, importStatuses } from './job-lifecycle.ts'
export { IMPORT_TYPES, PAUSE_CAUSES } from './job-store.ts'
export { importsEraser } from './eraser.ts'

export interface ImportsParts {
  readonly database: Database
  readonly clock: Clock
  readonly newId: NewId
  readonly bell: Bell
  readonly accounts: Pick<Accounts, 'timezoneOf'>
  readonly connections: Connections
  readonly activities: Activities
  readonly ingest: SleepIngest
  readonly quota: Pick<Quota, 'forecast' | 'vendorState' | 'callsSince'>
  readonly work: Pick<Work, 'offer' | 'remind' | 'atOnce' | 'heard' | 'closed' | 'isInactive' | 'backlog'>
  readonly vendor: (name: VendorName) => OpenVendor | undefined
  /** Calls of the athlete's other work that go before an import's details. */
  readonly goesBefore: (vendor: VendorName, athleteId: string) => Promise<number>
  /** Called after an import stored new activities. */
  readonly onNews: (athleteId: string, vendor: VendorName, externalIds: readonly string[]) => Promise<void>
  readonly pollMinutes: number
  /** For how many days a vendor's data is kept; undefined: for ever. */
  readonly retentionDays: (vendor: VendorName) => number | undefined
}

type Started =
  | { readonly outcome: 'new' | 'running'; readonly job: ImportJob }
  | { readonly outcome: 'not_connected' | 'needs_reauth' }

interface ImportGauge {
  readonly name: string
  readonly help: string
  readonly labels: { readonly status: ImportStatus }
  readonly value: number
}

/** How far an incremental import looks back, to find late uploads and edits. */
const LOOK_BACK_MS = 7 * DAY_MS
const KEPT_MS = 90 * DAY_MS
/** New activities on a page of 200: pages overlap by the entries of one second. */
const NEW_PER_PAGE = 199
/** How many imports a recheck looks at. */
const RECHECKED = 500
const FIRST_ID = '00000000-0000-0000-0000-000000000000'

interface Wish {
  readonly type: ImportType
  readonly restart?: boolean
}

export class Imports {
  readonly #parts: ImportsParts
  readonly #store: JobStore
  readonly #refresh: DetailRefresh
  readonly #eta: Eta
  readonly #views: ImportViews
  /** The imports as work. */
  readonly source: Source
  /** How far the minute's recheck has come. */
  #rechecked = FIRST_ID
  readonly #polling: Polling
  /** Starts an import as soon as a connection is made or renewed. Runs beside the schedules. */
  readonly watching: Service

  constructor(parts: ImportsParts) {
    this.#parts = parts
    this.#store = new JobStore(parts.database)
    this.#refresh = new DetailRefresh(parts)
    this.#eta = new Eta({ ...parts, store: this.#store, since: sinceOf, cutoff: vendor => this.#cutoff(vendor) })
    this.#views = new ImportViews({ ...parts, eta: this.#eta })
    this.source = new ImportSource({
      ...parts,
      store: this.#store,
      synced: (tx, { athleteId, vendor }, at) =>
        parts.connections.synced(tx, { athleteId, vendor, at, everyMs: lookEveryMs(vendor, parts.pollMinutes) }),
      visit: (job, claim) => this.#visit(job, claim),
      owed: (vendor, athleteId, callClass) => this.#eta.owed(vendor, athleteId, callClass),
    })
    this.#polling = new Polling({
      ...parts,
      store: this.#store,
      wholeLookCalls: (athleteId, vendor) => this.#wholeLookCalls(athleteId, vendor),
      start: (athleteId, vendor, wish) => this.start(athleteId, vendor, wish),
    })
    this.watching = consentWatch({ ...parts, look: () => this.#polling.lookFirst() })
  }

  /** The gate has closed: the imports that were being served wait, all in one statement. */
  async waitFor(gate: Gate, busy: readonly string[]): Promise<void> {
    const paused = await this.#store.pauseServed(gate, busy, this.#parts.clock.now())
    const why = { cause: gate.cause, retry_after: gate.opensAt.toISOString() }
    for (const job of paused) tellMove(job, 'rate_limited', why)
  }

  /** Every minute: starts the automatic imports, and looks for forgotten ones. Call it before the bell starts. */
  schedules(): (() => Promise<void>)[] {
    const { bell, clock } = this.#parts
    const every = (name: string, expression: string, work: () => Promise<void>) => cron(bell, clock, name, { expression, work })
    return [
      every('imports-sweep', '* * * * *', async () => {
        // Polling must happen even if the recheck fails.
        try {
          await this.#recheck()
        } finally {
          await this.poll()
        }
      }),
      every('imports-prune', '10 4 * * *', () => this.#store.prune(clock.now() - KEPT_MS)),
    ]
  }

  /** Fetches the details of opened activities again. Runs in every process that serves people. */
  get refreshing(): Service {
    return this.#refresh.service
  }

  /** Somebody has opened the activity: its detail is fetched again when it is old. Resolves when it is here, or after a short wait. */
  async refreshed(athleteId: string, activityId: string): Promise<void> {
    await this.#refresh.refreshed(athleteId, activityId)
  }

  async start(athleteId: string, vendor: VendorName, wish: Wish): Promise<Started> {
    const { database, newId, clock, connections, work } = this.#parts
    const connection = await connections.find(athleteId, vendor)
    if (connection === undefined) return { outcome: 'not_connected' }
    if (connection.status !== 'active') return { outcome: 'needs_reauth' }
    const wanted = await this.#wanted(athleteId, connection, wish)
    const job = await database.transaction(async tx => {
      if (!(await connections.hold(tx, athleteId, vendor))) return 'not_connected'
      const created = await this.#store.create(tx, newId(), wanted, clock.now())
      if (created !== undefined) await work.offer(vendor, 'live', [athleteId], { tx })
      return created
    })
    if (job === 'not_connected') return { outcome: job }
    if (job !== undefined) {
      tellMove(job, 'queued')
      return { outcome: 'new', job }
    }
    const live = await this.#store.live(wanted)
    // The live one ended between the two statements, so a new one can be created.
    return live === undefined ? await this.start(athleteId, vendor, wish) : { outcome: 'running', job: live }
  }

  /** An incremental import needs a complete sync to build on, made with the scopes of today. */
  async #wanted(athleteId: string, connection: Connection, { type, restart = false }: Wish) {
    const { vendor, lastSyncAt, connectedAt } = connection
    const scopes = readingScopes(vendors[vendor].facts, connection.scopes)
    const isFull = lastSyncAt === null || (importers[vendor].isRelooked && !(await this.#isSeenWith(athleteId, vendor, scopes)))
    return { athleteId, vendor, type: isFull ? ('full' as const) : type, restart, connectedAt, scopes }
  }

  async #isSeenWith(athleteId: string, vendor: VendorName, scopes: readonly string[]): Promise<boolean> {
    const last = await this.#store.lastFull({ athleteId, vendor })
    return last === undefined || (covers(scopes, last.scopes) && covers(last.scopes, scopes))
  }

  async #wholeLookCalls(athleteId: string, vendor: VendorName): Promise<number> {
    if (vendor !== 'strava') return CALLS_PER_POLL
    const { listed } = await this.#parts.activities.counts(athleteId, vendor)
    return Math.ceil(listed / NEW_PER_PAGE) + 1
  }

  /** Starts the automatic imports: a full one after connecting, then incremental ones at intervals, and a full one every week. */
  async poll(): Promise<void> {
    await this.#polling.look()
  }

  /** Looks at some of the imports that could be served, others each time: whose lane was forgotten is found. */
  async #recheck(): Promise<void> {
    const { clock, work } = this.#parts
    const some = await this.#store.waiting(this.#rechecked, RECHECKED, clock.now())
    for (const those of Map.groupBy(some, ({ vendor, callClass }) => `${vendor} ${callClass}`).values()) {
      const [{ vendor, callClass }] = those as [Waiting, ...Waiting[]]
      await work.remind(vendor, callClass, [...new Set(those.map(({ athleteId }) => athleteId))])
    }
    this.#rechecked = some.length < RECHECKED ? FIRST_ID : (some.at(-1)?.id ?? FIRST_ID)
  }

  /** Stores what Garmin pushed, requested or not, in the caller's transaction. */
  async pushed(athleteId: string, summaries: readonly GarminSummary[], tx: Queryable): Promise<void> {
    const heardAt = this.#parts.clock.now()
    await storePushed(tx, this.#parts, { athleteId, summaries, heardAt, cutoff: this.#cutoff('garmin') ?? 0 })
  }

  async list(athleteId: string, page: { after: string | undefined; limit: number }): Promise<ImportView[]> {
    return await this.#views.all(athleteId, await this.#store.list(athleteId, page))
  }

  async read(athleteId: string, id: string): Promise<ImportView | undefined> {
    const job = await this.#store.read(athleteId, id)
    return job && (await this.view(job))
  }

  /** The ids of the athlete's imports that have not ended. */
  async underWay(athleteId: string): Promise<string[]> {
    return await this.#store.underWay(athleteId)
  }

  async gauges(): Promise<ImportGauge[]> {
    const counts = await this.#store.byStatus()
    return importStatuses.map(status => ({
      name: 'paceline_import_status',
      help: 'Imports by status',
      labels: { status },
      value: counts.get(status) ?? 0,
    }))
  }

  /** The import as the API shows it. */
  async view(job: ImportJob): Promise<ImportView> {
    return await this.#views.one(job)
  }

  async #visit(job: ImportJob, claim: Claim): Promise<Ending> {
    const { database, clock, connections, vendor, work, onNews } = this.#parts
    const { athleteId } = job
    const open = vendor(job.vendor)
    const connection = await connections.find(athleteId, job.vendor)
    if (open === undefined || connection === undefined) return goneConnection(job.vendor)
    const run = {
      database,
      clock,
      hold: (tx: Queryable) => connections.hold(tx, athleteId, job.vendor),
      store: this.#store,
      facts: open.facts,
      call: <T>(request: VendorRequest<T>, options: CallOptions) => connections.call(connection.id, request, options),
      claim,
      heard: (outcome: AuthorisedOutcome<unknown>) => work.heard(job.vendor, outcome, claim.lane.failures),
      since: sinceOf(job, connection.lastSyncAt),
      cutoff: () => this.#cutoff(job.vendor),
      onNews: (externalIds: readonly string[]) => onNews(athleteId, job.vendor, externalIds),
    }
    const isFirst = connection.lastSyncAt === null
    const isNarrowed = (): Promise<boolean> => this.#isNarrowed(job)
    return await runImporter(open, { ...this.#parts, athleteId, isFirst, isNarrowed }, run, job)
  }

  /** Whether the vendor shows us less now than it showed this import or the last full one: a permission was taken back. */
  async #isNarrowed(job: ImportJob): Promise<boolean> {
    const connection = await this.#parts.connections.find(job.athleteId, job.vendor)
    const last = await this.#store.lastFull(job)
    const scopes = readingScopes(vendors[job.vendor].facts, connection?.scopes ?? [])
    return !covers(scopes, job.scopes) || !covers(scopes, last?.scopes ?? [])
  }

  /** What began before is not kept, so it is neither fetched nor stored. */
  #cutoff(vendor: VendorName): number | undefined {
    const days = this.#parts.retentionDays(vendor)
    return days === undefined ? undefined : this.#parts.clock.now() - days * DAY_MS
  }
}

/** How far back an incremental import looks; undefined for a full one. */
function sinceOf({ type }: ImportJob, lastSyncAt: Date | null | undefined): number | undefined {
  const at = type === 'full' ? undefined : lastSyncAt?.getTime()
  return at === undefined ? undefined : at - LOOK_BACK_MS
}

const covers = (scopes: readonly string[], others: readonly string[]): boolean => others.every(other => scopes.includes(other))

const goneConnection = (vendor: VendorName): Ending => ({
  ending: 'failed',
  code: 'PACE_NOT_CONNECTED',
  sentence: `${vendors[vendor].facts.title} is not connected any more.`,
})
