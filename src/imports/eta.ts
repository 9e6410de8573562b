// When an import will be done: how many calls it and the imports of all others still need, and what the budget makes of that.
import type { Activities, Counts } from '../activities/activities.ts'
import type { Connections } from '../accounts/accounts.ts'
import type { Clock } from '../kernel/clock.ts'
import type { CallClass, Quota } from '../quota/quota.ts'
import { vendors, type VendorName } from '../vendors/vendors.ts'
import type { Work } from '../work/work.ts'
import { importedBy, importers } from './importers.ts'
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
  async of(job: ImportJob, wait: { readonly retryAt: number | undefined; readonly cause: PauseCause | undefined }) {
    if (job.status === 'completed' || job.status === 'failed' || UNKNOWABLE.has(wait.cause)) return undefined
    const { work, quota, clock } = this.#parts
    const { vendor, athleteId } = job
    const { callClass, units, endsAfterMs = 0 } = importers[vendor]
    const mine = await this.#callsLeft(job)
    if (mine === undefined) return undefined
    if (mine === 0) return Math.max(wait.retryAt ?? 0, clock.now())
    const others = await work.backlog({ vendor, athleteId, callClass })
    const backlog = { mine, others, athleteId, callClass, units, atOnce: await work.atOnce() }
    const doneAt = await quota.forecast(vendor, backlog)
    return doneAt === undefined ? undefined : doneAt + endsAfterMs
  }

  /** Calls of this class that the athlete's import needs. */
  async owed(vendor: VendorName, athleteId: string, callClass: CallClass): Promise<number> {
    if (callClass !== importers[vendor].callClass) return 0
    if (vendor === 'strava') return fetchesOwed(await this.#parts.activities.counts(athleteId, vendor))
    const job = await this.#parts.store.live({ athleteId, vendor })
    return (job && (await this.#callsLeft(job))) ?? 0
  }

  /** Only Strava has details and photos: elsewhere a listed item is complete. */
  async counts(job: ImportJob): Promise<Counts> {
    if (job.vendor === 'strava') return await this.#parts.activities.counts(job.athleteId, job.vendor)
    const listed = importedBy(job)
    return { listed, detailed: listed, parked: 0, detailsOwed: 0, photosOwed: 0, photosSynced: 0 }
  }

  async #callsLeft(job: ImportJob): Promise<number | undefined> {
    const { clock, connections, goesBefore, cutoff, since } = this.#parts
    if (job.vendor === 'strava') {
      if (job.total === undefined) return undefined
      return fetchesOwed(await this.counts(job)) + (await goesBefore(job.vendor, job.athleteId))
    }
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

/** Only a detail tells whether an activity has photos: of those that are still to come, as many as of those that have come. */
function fetchesOwed({ detailed, detailsOwed, photosOwed, photosSynced }: Counts): number {
  const withPhotos = detailed === 0 ? 0 : (photosOwed + photosSynced) / detailed
  return Math.round(detailsOwed * (1 + withPhotos)) + photosOwed
}
