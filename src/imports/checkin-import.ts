// An athlete's Foursquare check-ins. The budget is large and an import short, so running out means that something is wrong: the import fails
// with a sentence that says what to do, and only a person starts the next one. That one reads what was posted since, then goes on where
// this one stopped. An empty page does not end the history while the vendor counts more check-ins.
import type { Activities } from '../activities/activities.ts'
import { FOURSQUARE_LIMIT_MAX, type FoursquareCheckin, type FoursquareEndpoints, type Page } from '../vendors/vendors.ts'
import { readCursor, type Cursor } from './cursor.ts'
import type { Ending, Fetched } from './fetching.ts'
import { afterPage } from './paging.ts'
import type { Run } from './run.ts'

interface CheckinImportParts {
  readonly activities: Activities
  readonly endpoints: FoursquareEndpoints
}

/** The vendor advises requesting some seconds more than needed. */
const OVERLAP_SECONDS = 10

export class CheckinImport {
  readonly #run: Run
  readonly #activities: Activities
  readonly #endpoints: FoursquareEndpoints

  constructor(run: Run, { activities, endpoints }: CheckinImportParts) {
    this.#run = run
    this.#activities = activities
    this.#endpoints = endpoints
  }

  async run(): Promise<Ending> {
    return (await this.#catchUp()) ?? (await this.#walk())
  }

  /** Reads what was posted since the start of the failed import that this one goes on from: newest pages first, until they reach back to it. */
  async #catchUp(): Promise<Ending | undefined> {
    const { from } = this.#run.cursor
    if (from === undefined || from >= this.#startedSeconds) return undefined
    let place = readCursor({})
    for (;;) {
      const answer = await this.#run.ask(this.#endpoints.checkins(this.#asked(place)), 'live')
      if (answer.kind !== 'value') return failFast(answer)
      const next = this.#after(answer.value, place)
      const isLast = next.isLast || answer.value.items.some(({ createdAt }) => createdAt < from - OVERLAP_SECONDS)
      const lost = await this.#store(answer.value, { ...this.#run.cursor, ...(isLast && { from: this.#startedSeconds }) })
      if (lost !== undefined || isLast) return lost
      place = next.cursor
    }
  }

  async #walk(): Promise<Ending> {
    for (;;) {
      const answer = await this.#run.ask(this.#endpoints.checkins(this.#asked(this.#run.cursor)), 'live')
      if (answer.kind !== 'value') return failFast(answer)
      const next = this.#after(answer.value, this.#run.cursor)
      const lost = await this.#store(answer.value, next.cursor)
      if (lost !== undefined) return lost
      if (next.isLast && !(await this.#looksForMissed())) return this.#run.completed(this.#run.total === 0)
    }
  }

  get #startedSeconds(): number {
    return Math.floor((this.#run.job.startedAt?.getTime() ?? this.#run.now()) / 1000)
  }

  #asked(cursor: Cursor) {
    const { since } = this.#run
    const offset = (cursor.page - 1) * FOURSQUARE_LIMIT_MAX
    return {
      limit: FOURSQUARE_LIMIT_MAX,
      ...(offset > 0 && { offset }),
      ...(cursor.before !== undefined && cursor.phase === 'list' && { beforeSeconds: cursor.before }),
      ...(since !== undefined && { afterSeconds: Math.floor(since / 1000) - OVERLAP_SECONDS }),
    }
  }

  /** Pages follow time; in phase `again` they follow the offset, up to the vendor's own count. */
  #after({ items, broken, total = 0 }: Page<FoursquareCheckin>, cursor: Cursor): { cursor: Cursor; isLast: boolean } {
    const { since } = this.#run
    if (cursor.phase === 'again') {
      return { cursor: { ...cursor, page: cursor.page + 1 }, isLast: cursor.page * FOURSQUARE_LIMIT_MAX >= total }
    }
    const next = afterPage(cursor, { seconds: items.map(({ createdAt }) => createdAt), unread: broken.length })
    const reachesBack = since !== undefined && items.some(({ createdAt }) => createdAt * 1000 < since)
    return { ...next, isLast: next.isLast || reachesBack }
  }

  async #store({ items, broken, total }: Page<FoursquareCheckin>, cursor: Cursor): Promise<Ending | undefined> {
    const { athleteId, since } = this.#run
    this.#run.noticeBroken(broken)
    return await this.#run.commit(cursor, async tx => {
      const fresh = await this.#activities.storeCheckins(tx, athleteId, items)
      const imported = cursor.activities_imported + fresh.length
      this.#run.total = since === undefined ? (total ?? this.#run.total ?? imported) : imported
      return { from: this.#startedSeconds, ...cursor, activities_imported: imported }
    })
  }

  /** True when the vendor counts more than came: then the list is read once more, by offset. */
  async #looksForMissed(): Promise<boolean> {
    const { athleteId, cursor, since, total = 0 } = this.#run
    if (since !== undefined || cursor.phase === 'again') return false
    if ((await this.#activities.countCheckins(athleteId)) >= total) return false
    return (await this.#run.commit({ ...cursor, phase: 'again', page: 1 })) === undefined
  }
}

/** Any obstacle ends the import; a person starts the next one. */
function failFast(answer: Exclude<Fetched<unknown>, { kind: 'value' }>): Ending {
  if (answer.kind === 'end' && answer.ending.ending !== 'paused') return answer.ending
  return {
    ending: 'failed',
    code: 'PACE_IMPORT_STOPPED',
    sentence: `${whyStopped(answer)} What was fetched is kept: ${ASK_AGAIN}`,
  }
}

const ASK_AGAIN = 'start the import again and it goes on from there.'

function whyStopped(answer: Exclude<Fetched<unknown>, { kind: 'value' }>): string {
  if (answer.kind === 'end' && answer.ending.ending === 'paused') {
    const { cause, retryAt } = answer.ending
    if (cause === 'budget') return 'The budget service does not answer; wait until it does.'
    return `Foursquare allows no more requests before ${new Date(retryAt).toISOString().slice(11, 16)} UTC; wait until then.`
  }
  const reason = answer.kind === 'trouble' || answer.kind === 'broken' ? answer.reason : 'not found'
  return `Foursquare did not give the check-ins (${reason}).`
}
