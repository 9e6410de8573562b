// Garmin's streams are never asked for: Garmin sends them, late or not at all. A delivery is claimed and stored in one transaction; what
// does not come waits, and is given up on after a week: two writes, however long it takes.
import { loadQueries, type Database, type Queryable } from '../db/db.ts'
import { tell } from '../kernel/channels.ts'
import type { Clock } from '../kernel/clock.ts'
import { DAY_MS } from '../kernel/durations.ts'
import type { GarminActivityDetails } from '../vendors/vendors.ts'
import type { WholeChannels } from './channels.ts'
import { garminChannels } from './garmin-channels.ts'
import { errorText, LOOK_MS } from './reasons.ts'
import type { StreamStatus } from '../activities/activities.ts'
import type { ClaimedStream, StreamStore } from './stream-store.ts'

const sql = loadQueries(new URL('garmin.sql', import.meta.url), {
  find: ['athleteId', 'externalIds'],
  claim: ['id', 'now'],
  look: ['now', 'seenBefore'],
  wait: ['ids', 'seenBefore', 'error', 'until'],
  giveUp: ['ids', 'seenBefore'],
})

const GIVE_UP_MS = 7 * DAY_MS

/** `unknown`: there is no such activity (yet). `empty`: it came without samples, and goes on waiting. */
export type Delivered = { readonly outcome: 'stored' | 'unknown' | 'empty' }

export class GarminStreams {
  readonly #database: Database
  readonly #clock: Clock
  readonly #store: StreamStore

  constructor(parts: { readonly database: Database; readonly clock: Clock; readonly store: StreamStore }) {
    this.#database = parts.database
    this.#clock = parts.clock
    this.#store = parts.store
  }

  async deliver(tx: Queryable, athleteId: string, details: GarminActivityDetails): Promise<Delivered> {
    const found = garminChannels(details)
    if (found.outcome !== 'whole') return { outcome: 'empty' }
    type Row = { readonly id: string; readonly status: StreamStatus }
    const [activity] = await tx.query<Row>(sql.find({ athleteId, externalIds: namesOf(details) }))
    if (activity === undefined) return { outcome: 'unknown' }
    const stored = await this.#storeIn(tx, activity, found)
    told(stored, found)
    return { outcome: 'stored' }
  }

  async #storeIn(
    tx: Queryable,
    { id, status }: { id: string; status: StreamStatus },
    channels: WholeChannels,
  ): Promise<ClaimedStream> {
    const now = this.#clock.now()
    // Garmin sends an activity again as it grows, and sometimes what was given up on: then it begins anew.
    if (status === 'success' || status === 'unavailable') await this.#store.resetFor(tx, id)
    const [claim] = await tx.query<ClaimedStream>(sql.claim({ id, now: new Date(now) }))
    if (claim === undefined) throw new Error('a delivery found its activity claimed')
    await this.#store.succeedIn(tx, claim, channels, now)
    return claim
  }

  /** Moves those on that are new, to wait, and those that have waited for a week, to the end. */
  async look(): Promise<void> {
    const now = this.#clock.now()
    const seenBefore = new Date(now - GIVE_UP_MS)
    await this.#database.transaction(async tx => {
      const ids = (await tx.query<{ id: string }>(sql.look({ now: new Date(now), seenBefore }))).map(({ id }) => id)
      if (ids.length === 0) return
      const error = errorText('waiting_for_vendor', 'Garmin sends them by itself')
      await tx.query(sql.wait({ ids, seenBefore, error, until: new Date(now + LOOK_MS) }))
      await tx.query(sql.giveUp({ ids, seenBefore }))
    })
  }
}

/** How the activity may be named: the details' own id is its summary's with an ending. */
const namesOf = ({ activityId, summaryId }: GarminActivityDetails): string[] => [
  ...(activityId === undefined || activityId === null ? [] : [activityId]),
  summaryId,
  summaryId.replace(/-detail$/, ''),
]

function told(claim: ClaimedStream, { names, pointCount }: WholeChannels): void {
  tell('paceline:stream-fetch', {
    activity_id: claim.id,
    athlete_id: claim.athleteId,
    status: 'success',
    channels_fetched: names,
    point_count: pointCount,
    error: null,
    retry_count: claim.retryCount,
    duration_ms: 0,
    rate_budget_remaining: null,
  })
}
