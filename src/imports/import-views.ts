// Imports as the API shows them: status, progress, message, and when they go on and end. What all athletes wait for is in the gates, not in
// each row, so what is shown is made of both.
import type { Activities, Counts } from '../activities/activities.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { Clock } from '../kernel/clock.ts'
import { isTimeZone } from '../kernel/time-zone.ts'
import { vendors } from '../vendors/vendors.ts'
import type { Gate, Work } from '../work/work.ts'
import type { Eta } from './eta.ts'
import { importedBy, importers } from './importers.ts'
import { importLifecycle, type ImportStatus } from './job-lifecycle.ts'
import { limitedBy, type ImportJob, type LimitedBy, type PauseCause } from './job-store.ts'
import { messageOf } from './messages.ts'
import type { Problem } from './steps.ts'

interface ViewParts {
  readonly clock: Clock
  readonly accounts: Pick<Accounts, 'timezoneOf'>
  readonly activities: Pick<Activities, 'counts' | 'lastZone'>
  readonly work: Pick<Work, 'closed'>
  readonly eta: Pick<Eta, 'of'>
}

export interface ImportView {
  readonly job: ImportJob
  readonly progress: {
    readonly listed: number
    readonly detailed: number
    readonly photos: number
    readonly total: number | undefined
  }
  /** When a paused one goes on by itself, and what it waits for. */
  readonly retryAt: number | undefined
  readonly cause: PauseCause | undefined
  readonly limitedBy: LimitedBy | undefined
  readonly eta: number | undefined
  readonly message: string
  readonly problems: readonly Problem[]
}

/** What all imports of an athlete are shown by. */
interface Scene {
  readonly zone: string
  readonly gates: readonly Gate[]
  /** Of the athlete's activities at Strava. */
  readonly counts: Counts
}

export class ImportViews {
  readonly #parts: ViewParts

  constructor(parts: ViewParts) {
    this.#parts = parts
  }

  async one(job: ImportJob): Promise<ImportView> {
    return await this.#view(job, await this.#scene(job.athleteId))
  }

  async all(athleteId: string, jobs: readonly ImportJob[]): Promise<ImportView[]> {
    const scene = await this.#scene(athleteId)
    const views: ImportView[] = []
    for (const job of jobs) views.push(await this.#view(job, scene))
    return views
  }

  async #scene(athleteId: string): Promise<Scene> {
    const { accounts, activities, work } = this.#parts
    // Zones are checked where they come in; a row of before may hold one that the platform does not know.
    const zones = [await accounts.timezoneOf(athleteId), await activities.lastZone(athleteId)]
    const zone = zones.find(name => name !== undefined && isTimeZone(name)) ?? 'UTC'
    return { zone, gates: await work.closed(), counts: await activities.counts(athleteId, 'strava') }
  }

  async #view(job: ImportJob, { zone, gates, counts: ofStrava }: Scene): Promise<ImportView> {
    const { clock, eta } = this.#parts
    const waits = waitOf(job, gates)
    const counts = job.vendor === 'strava' ? ofStrava : countsOf(job)
    const status = statusOf(job, waits)
    const told = {
      status,
      imported: importedBy(job),
      total: job.total,
      ...waits,
      error: job.error,
      noun: importers[job.vendor].noun,
      title: vendors[job.vendor].facts.title,
    }
    return {
      job: { ...job, status },
      ...waits,
      progress: { listed: counts.listed, detailed: counts.detailed, photos: counts.photosSynced, total: job.total },
      eta: await eta.of(job, waits, counts),
      message: messageOf(told, zone, clock.now()),
      problems: job.problems,
    }
  }
}

/** Only Strava has details and photos: elsewhere a listed item is complete. */
function countsOf(job: ImportJob): Counts {
  const listed = importedBy(job)
  return { listed, detailed: listed, parked: 0, detailsOwed: 0, photosOwed: 0, photosSynced: 0 }
}

type Wait = Pick<ImportView, 'retryAt' | 'cause' | 'limitedBy'>

const NO_WAIT: Wait = { retryAt: undefined, cause: undefined, limitedBy: undefined }

/** Of many that a gate holds up, few were being served when it closed, and few go on at once when it opens; for all the gate tells. */
function statusOf({ status, isGated }: ImportJob, { retryAt }: Wait): ImportStatus {
  if (importLifecycle.states[status].final === true) return status
  if (retryAt !== undefined) return 'rate_limited'
  return isGated ? 'queued' : status
}

/** The later of the import's own time and the gate's, and why. */
function waitOf(job: ImportJob, gates: readonly Gate[]): Wait {
  const own = job.isGated ? NO_WAIT : { retryAt: job.retryAfter?.getTime(), cause: job.pause, limitedBy: job.limitedBy }
  const gate = gates.find(({ vendor, callClass }) => vendor === job.vendor && callClass === job.callClass)
  if (gate === undefined || importLifecycle.states[job.status].final === true) return own
  const opensAt = gate.opensAt.getTime()
  if ((own.retryAt ?? 0) > opensAt) return own
  return { retryAt: opensAt, cause: gate.cause, limitedBy: limitedBy(gate.pool, gate.window) }
}
