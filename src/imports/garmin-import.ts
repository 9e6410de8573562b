// An athlete's Garmin history. Garmin answers no query: we request its history range by range, newest first, and it pushes the data some
// time later. The import is complete when every range was requested and the pushes have ended; but not when Garmin refused every range as
// sent before and nothing came.
import { MINUTE_MS } from '../kernel/durations.ts'
import type { Activities } from '../activities/activities.ts'
import { GARMIN_BACKFILL_DAYS_MAX, type GarminEndpoints } from '../vendors/vendors.ts'
import type { Cursor } from './cursor.ts'
import type { Ending, Fetched } from './fetching.ts'
import type { Bad, Run } from './run.ts'

interface GarminImportParts {
  readonly activities: Activities
  readonly endpoints: GarminEndpoints
}

const TYPES = ['activities', 'activityDetails', 'sleeps'] as const
const DAY_SECONDS = 86_400
const RANGE_SECONDS = GARMIN_BACKFILL_DAYS_MAX * DAY_SECONDS
/** Far enough for most athletes; with an evaluation key (a hundred days a minute) the requests take three hours. */
const FULL_SECONDS = 5 * 365 * DAY_SECONDS
/** After this long without a push, the pushes have ended. */
const QUIET_MS = 10 * MINUTE_MS

/** The history is not here, and Garmin sends nothing twice. */
const SENT_BEFORE = {
  externalId: 'history',
  reason: 'Garmin says that it has sent this history before, and it sends nothing twice',
}

const isRepeat = (answer: Fetched<unknown>): boolean => answer.kind === 'broken' && answer.status === 409

export class GarminImport {
  readonly #run: Run
  readonly #activities: Activities
  readonly #endpoints: GarminEndpoints

  constructor(run: Run, { activities, endpoints }: GarminImportParts) {
    this.#run = run
    this.#activities = activities
    this.#endpoints = endpoints
  }

  async run(): Promise<Ending> {
    const { cursor } = this.#run
    const startedAt = Math.floor((this.#run.job.startedAt?.getTime() ?? this.#run.now()) / 1000)
    const lost = cursor.known === undefined ? await this.#look({ from: startedAt, before: startedAt }) : undefined
    if (lost !== undefined) return lost
    if (this.#run.cursor.phase === 'push') return await this.#awaitPush()
    return (
      (await this.#askUp(startedAt)) ?? (await this.#askDown(startedAt)) ?? (await this.#look({ phase: 'push' })) ?? this.#quiet()
    )
  }

  /** Requests what happened between the start of the failed import that this one goes on from and its own. An unfinished range goes on. */
  async #askUp(startedAt: number): Promise<Ending | undefined> {
    for (;;) {
      const { from = startedAt, gap } = this.#run.cursor
      if (gap === undefined && from >= startedAt) return undefined
      const { to, page } = gap ?? { to: Math.min(from + RANGE_SECONDS, startedAt), page: 1 }
      const ending = await this.#askForRange({ fromSeconds: from, toSeconds: to }, page, next =>
        next === undefined ? { from: to, gap: undefined } : { gap: { to, page: next } },
      )
      if (ending === 'end of history') return await this.#look({ from: startedAt, gap: undefined })
      if (ending !== undefined) return ending
    }
  }

  async #askDown(startedAt: number): Promise<Ending | undefined> {
    const until = this.#run.since === undefined ? startedAt - FULL_SECONDS : Math.floor(this.#run.since / 1000)
    for (;;) {
      const { before: to = startedAt, page } = this.#run.cursor
      if (to <= until) return undefined
      const from = Math.max(until, to - RANGE_SECONDS)
      const ending = await this.#askForRange({ fromSeconds: from, toSeconds: to }, page, next =>
        next === undefined ? { page: 1, before: from } : { page: next },
      )
      if (ending === 'end of history') return undefined
      if (ending !== undefined) return ending
    }
  }

  /** Requests the types of one range from the `page`th on. `then` gives the cursor's changes; its argument is the next type, if any. */
  async #askForRange(
    range: { fromSeconds: number; toSeconds: number },
    page: number,
    then: (next: number | undefined) => Partial<Cursor>,
  ): Promise<Ending | 'end of history' | undefined> {
    for (const [index, type] of [...TYPES.entries()].slice(page - 1)) {
      const answer = await this.#run.ask(this.#endpoints.backfill(type, range), 'backfill')
      if (answer.kind === 'end') return answer.ending
      const ending = answer.kind === 'value' ? undefined : await this.#refused(answer, type)
      if (ending !== undefined) return ending
      const next = index + 1 < TYPES.length ? index + 2 : undefined
      const lost = await this.#look({ trouble: 0, ...this.#grantedBy(answer), ...then(next) })
      if (lost !== undefined) return lost
    }
    return undefined
  }

  #grantedBy(answer: Fetched<unknown>): Pick<Cursor, 'granted'> {
    if (answer.kind === 'value') return { granted: true }
    return isRepeat(answer) ? { granted: this.#run.cursor.granted ?? false } : {}
  }

  /** Undefined: go on, as if it had been granted. */
  async #refused(answer: Bad, type: string): Promise<Ending | 'end of history' | undefined> {
    if (answer.kind !== 'broken') return await this.#run.stuck(answer, 'the history')
    // This range was requested before: its data has come, or will.
    if (isRepeat(answer)) return undefined
    if (/min start time/i.test(answer.reason)) return 'end of history'
    if (/not enabled/i.test(answer.reason)) {
      this.#run.notice({ externalId: type, reason: answer.reason })
      return undefined
    }
    if (answer.missingScope === undefined) return await this.#run.stuck(answer, 'the history')
    return this.#run.refused(
      `Garmin gives no history without the permission ${answer.missingScope}: connect it again and tick it. New data arrives all the same.`,
    )
  }

  async #awaitPush(): Promise<Ending> {
    const { heard } = this.#run.cursor
    const lost = await this.#look({})
    if (lost !== undefined) return lost
    return heard === this.#run.cursor.heard ? await this.#ended() : this.#quiet()
  }

  async #ended(): Promise<Ending> {
    const { known, heard, granted } = this.#run.cursor
    if (granted !== false || heard !== known) return this.#run.completed(heard === 0)
    this.#run.notice(SENT_BEFORE)
    return (await this.#look({})) ?? this.#run.completed(true)
  }

  #quiet(): Ending {
    return { ending: 'paused', retryAt: this.#run.now() + QUIET_MS, cause: 'push' }
  }

  /** Saves what changed in the cursor, and how many activities have come. */
  async #look(changes: Partial<Cursor>): Promise<Ending | undefined> {
    const { cursor, athleteId } = this.#run
    return await this.#run.commit(cursor, async tx => {
      const { listed } = await this.#activities.counts(athleteId, 'garmin', tx)
      const known = cursor.known ?? listed
      this.#run.total = listed - known
      return { ...cursor, known, heard: listed, activities_imported: listed - known, ...changes }
    })
  }
}
