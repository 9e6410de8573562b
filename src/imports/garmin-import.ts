// An athlete's Garmin history. Garmin hands out nothing when asked: it is asked, range by range and newest first, to send its history
// again, and then pushes it when it likes. The import is complete when everything was asked for and the pushing has ended.
import type { Activities } from '../activities/activities.ts'
import { GARMIN_BACKFILL_DAYS_MAX, type GarminEndpoints } from '../vendors/vendors.ts'
import type { Cursor } from './cursor.ts'
import type { Ending } from './fetching.ts'
import type { Bad, Run } from './run.ts'

export interface GarminImportParts {
  readonly activities: Activities
  readonly endpoints: GarminEndpoints
}

const TYPES = ['activities', 'activityDetails', 'sleeps'] as const
const DAY_SECONDS = 86_400
const RANGE_SECONDS = GARMIN_BACKFILL_DAYS_MAX * DAY_SECONDS
/** Far enough for most, and with an evaluation key's hundred days a minute three hours of asking. */
const FULL_SECONDS = 5 * 365 * DAY_SECONDS
/** Nothing came for so long: the pushing has ended. */
const QUIET_MS = 10 * 60_000

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
    const lost = this.#run.cursor.known === undefined ? await this.#look({}) : undefined
    if (lost !== undefined) return lost
    if (this.#run.cursor.phase === 'push') return await this.#awaitPush()
    return (await this.#askForAll()) ?? this.#quiet()
  }

  async #askForAll(): Promise<Ending | undefined> {
    const startedAt = Math.floor((this.#run.job.startedAt?.getTime() ?? this.#run.now()) / 1000)
    const until = this.#run.since === undefined ? startedAt - FULL_SECONDS : Math.floor(this.#run.since / 1000)
    let to = this.#run.cursor.before ?? startedAt
    while (to > until) {
      const from = Math.max(until, to - RANGE_SECONDS)
      const ending = await this.#askForRange({ fromSeconds: from, toSeconds: to })
      if (ending === 'end of history') break
      if (ending !== undefined) return ending
      to = from
    }
    return await this.#look({ phase: 'push' })
  }

  /** All types of one range; the cursor's page says which are done. */
  async #askForRange(range: { fromSeconds: number; toSeconds: number }): Promise<Ending | 'end of history' | undefined> {
    for (const type of TYPES.slice(this.#run.cursor.page - 1)) {
      const answer = await this.#run.ask(this.#endpoints.backfill(type, range), 'backfill')
      if (answer.kind === 'end') return answer.ending
      const ending = answer.kind === 'value' ? undefined : await this.#refused(answer, type)
      if (ending !== undefined) return ending
      const page = (this.#run.cursor.page % TYPES.length) + 1
      const lost = await this.#look({ page, trouble: 0, ...(page === 1 && { before: range.fromSeconds }) })
      if (lost !== undefined) return lost
    }
    return undefined
  }

  /** Undefined: go on, as if it had been granted. */
  async #refused(answer: Bad, type: string): Promise<Ending | 'end of history' | undefined> {
    if (answer.kind !== 'broken') return await this.#run.stuck(answer, 'the history')
    // This range was asked for before: what it holds has come, or will.
    if (answer.status === 409) return undefined
    if (/min start time/i.test(answer.reason)) return 'end of history'
    if (/not enabled/i.test(answer.reason)) {
      this.#run.notice({ externalId: type, reason: answer.reason })
      return undefined
    }
    if (answer.missingScope === undefined) return await this.#run.stuck(answer, 'the history')
    return this.#run.refused(
      `Garmin gives out no history without the permission ${answer.missingScope}: connect it again and tick it. New data comes all the same.`,
    )
  }

  async #awaitPush(): Promise<Ending> {
    const { heard } = this.#run.cursor
    const lost = await this.#look({})
    if (lost !== undefined) return lost
    return heard === this.#run.cursor.heard ? this.#run.completed(heard === 0) : this.#quiet()
  }

  #quiet(): Ending {
    return { ending: 'paused', until: this.#run.now() + QUIET_MS, cause: 'push' }
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
