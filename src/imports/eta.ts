// When an import will be done: how many calls it and the imports of all others still need, and what the budget makes of that.
import type { Activities, Counts } from '../activities/activities.ts'
import type { Connections } from '../accounts/accounts.ts'
import type { Clock } from '../kernel/clock.ts'
import type { CallClass, Quota } from '../quota/quota.ts'
import { vendors, type VendorName } from '../vendors/vendors.ts'
import type { Work } from '../work/work.ts'
import { importers } from './importers.ts'
import type { ImportView } from './import-views.ts'
import type { ImportJob, JobStore, PauseCause } from './job-store.ts'

interface EtaParts {
  readonly clock: Clock
  readonly store: Pick<JobStore, 'live'>
  readonly activities: Pick<Activities, 'counts'>
  readonly connections: Pick<Connections, 'find'>
  readonly quota: Pick<Quota, 'forecast'>
  readonly work: Pick<Work, 'backlog' | 'atOnce'>
  /** Calls of the athlete's other work that go before an import's details. */
  readonly goesBefore: (vendor: VendorName, athleteId: string) => Promise<number>
  readonly cutoff: (vendor: VendorName) => number | undefined
  /** How far back an incremental import looks; undefined for a full one. */
  readonly since: (job: ImportJob, lastSyncAt: Date | null | undefined) => number | undefined
}

/** Nobody knows when the vendor answers again, or the operator acts. */
const UNKNOWABLE: ReadonlySet<PauseCause | undefined> = new Set<PauseCause>(['budget', 'vendor', 'inactive', 'fault'])

export class Eta {
  readonly #parts: EtaParts

  constructor(parts: EtaParts) {
    this.#parts = parts
  }

  /** Undefined where the import has ended, or nobody can say. */
  async of(job: ImportJob, wait: Pick<ImportView, 'retryAt' | 'cause'>, counts: Counts): Promise<number | undefined> {
    if (job.status === 'completed' || job.status === 'failed' || UNKNOWABLE.has(wait.cause)) return undefined
    const { work, quota, clock } = this.#parts
    const { vendor, athleteId } = job
    const { callClass, units, endsAfterMs = 0 } = importers[vendor]
    const mine = await this.#callsLeft(job, counts)
    if (mine === undefined) return undefined
    if (mine === 0) return Math.max(wait.retryAt ?? 0, clock.now())
    const others = await work.backlog({ vendor, athleteId, callClass })
    const backlog = { mine, others, athleteId, callClass, units, atOnce: await work.atOnce() }
    const doneAt = await quota.forecast(vendor, backlog)
    return doneAt === undefined ? undefined : Math.max(doneAt + endsAfterMs, wait.retryAt ?? 0)
  }

  /** Calls of this class that the athlete's import needs. */
  async owed(vendor: VendorName, athleteId: string, callClass: CallClass): Promise<number> {
    if (callClass !== importers[vendor].callClass) return 0
    if (vendor === 'strava') return fetchesOwed(await this.#parts.activities.counts(athleteId, vendor))
    const job = await this.#parts.store.live({ athleteId, vendor })
    return (job && (await this.#byCursor(job))) ?? 0
  }

  async #callsLeft(job: ImportJob, counts: Counts): Promise<number | undefined> {
    if (job.vendor !== 'strava') return await this.#byCursor(job)
    if (job.total === undefined) return undefined
    return fetchesOwed(counts) + (await this.#parts.goesBefore(job.vendor, job.athleteId))
  }

  async #byCursor(job: ImportJob): Promise<number | undefined> {
    const { clock, connections, cutoff, since } = this.#parts
    const connection = job.type === 'full' ? undefined : await connections.find(job.athleteId, job.vendor)
    return importers[job.vendor].callsLeft?.(job.cursor as never, {
      now: clock.now(),
      startedAt: job.startedAt?.getTime() ?? clock.now(),
      since: since(job, connection?.lastSyncAt),
      cutoff: cutoff(job.vendor),
      total: job.total,
      title: vendors[job.vendor].facts.title,
    })
  }
}

const fetchesOwed = ({ detailsOwed, photosOwed }: Counts): number => detailsOwed + photosOwed
