// When an athlete's backfill will be done. It follows the rules of the permits: it walks from window to window and counts what backfill
// may take in each. Live calls are presumed to go on as they did beside the last calls; athletes who have not begun yet are unknown. Its cost grows neither with
// the number of athletes nor with how far off the end is.
import { DAY_MS } from '../kernel/durations.ts'
import { loadQueries, type Queryable } from '../db/db.ts'
import type { VendorName } from '../vendors/vendors.ts'
import { APP } from './meters.ts'
import type { CallClass } from './permit.ts'
import type { MeterState } from './state.ts'
import { Walk, type CallTimes, type Gait } from './walk.ts'

const sql = loadQueries(new URL('forecast.sql', import.meta.url), {
  callTimes: ['vendor'],
})

/** As many athletes of whom each owes as many calls. */
export interface Owed {
  readonly owed: number
  readonly athletes: number
}

export interface Backlog {
  /** Calls that the athlete's work still needs. */
  readonly mine: number
  /** What the other athletes need who backfill from the same quota. Many groups are made fewer with callsBucket. */
  readonly others?: readonly Owed[]
  readonly paced?: boolean
  /** How long a call takes; measured when not given. */
  readonly callMs?: number
  /** Whose pools are asked where tokens have their own. */
  readonly athleteId?: string
  readonly callClass?: CallClass
  /** Units that a call takes of a pool, where not one. */
  readonly units?: Readonly<Record<string, number>> | undefined
  /** How many of this vendor's backfill calls run at the same time, over all processes; as many as athletes when not given. */
  readonly atOnce?: number | undefined
}

export interface Outlook extends Gait {
  readonly now: number
  readonly mine: number
  readonly others: readonly Owed[]
}

/** With fewer backfill calls nothing can be said about the live ones beside them. */
const KNOWN_BY = 20
/** Used as long as no call was measured. */
const UNKNOWN_CALL_MS = 500

interface MeasuredCalls extends CallTimes {
  /** Live calls beside each call of backfill. */
  readonly liveShare: number
}

export async function callTimes(database: Queryable, vendor: VendorName): Promise<MeasuredCalls> {
  type Row = { mean: number | null; spread: number; live: number; backfill: number }
  const [row] = await database.query<Row>(sql.callTimes({ vendor }))
  const isKnown = row !== undefined && row.backfill >= KNOWN_BY
  return {
    callMs: row?.mean ?? UNKNOWN_CALL_MS,
    spreadMs: row?.spread ?? 0,
    liveShare: isKnown ? Math.min(1, row.live / row.backfill) : 0,
  }
}

/** By the pools that all athletes share, and by the token's own: whichever takes longer. */
export function forecastOf(
  states: readonly MeterState[],
  { liveShare, ...measured }: MeasuredCalls,
  backlog: Backlog,
  now: number,
): number | undefined {
  const { mine, others = [], paced = false, callClass, callMs = measured.callMs, atOnce } = backlog
  const gait = { now, paced, atOnce, ...measured, callMs }
  const counted = inCalls(states, backlog)
  const share = callClass === 'live' ? 0 : liveShare
  const shared = forecast({ ...gait, states: counted.filter(isShared), ...besideLive({ mine, others }, share) })
  const own = forecast({ ...gait, states: counted.filter(state => !isShared(state)), mine, others: [] })
  return shared === undefined || own === undefined ? undefined : Math.max(shared, own)
}

const isShared = ({ meter }: MeterState): boolean => meter.scope === APP

/** In calls instead of units. A live call leaves nothing to others, and does not wait at the edge of a window. */
const inCalls = (states: readonly MeterState[], { callClass, units = {} }: Backlog): MeterState[] =>
  states.map(({ meter, allowed, used, ...state }) => {
    const each = units[meter.pool] ?? 1
    const asLive = callClass === 'live' ? { spare: 0, guardMs: 0 } : {}
    return { ...state, meter: { ...meter, ...asLive }, allowed: Math.floor(allowed / each), used: Math.ceil(used / each) }
  })

/** What all of them need when so many live calls go beside each of theirs. */
const besideLive = ({ mine, others }: Pick<Outlook, 'mine' | 'others'>, liveShare: number) => ({
  mine: Math.round(mine * (1 + liveShare)),
  others: others.map(({ owed, athletes }) => ({ owed: Math.round(owed * (1 + liveShare)), athletes })),
})

/** Nobody can say today what the limits, and the other athletes, will be then. */
const FARTHEST_MS = 366 * DAY_MS

/** When the athlete's last call will be answered; undefined where the limits allow no call at all, or none within a year. */
export function forecast(outlook: Outlook): number | undefined {
  const { states, now, mine } = outlook
  if (mine <= 0) return now
  if (states.some(({ allowed }) => allowed < 1)) return undefined
  const walk = new Walk(outlook, now)
  const queue = new Queue(stretchesOf(outlook))
  while (queue.all > 0) {
    if (walk.beginsPeriod()) skipPeriods(walk, queue)
    queue.take(walk.step(queue.athletes, queue.left))
  }
  return walk.doneAt - now > FARTHEST_MS ? undefined : Math.ceil(walk.doneAt)
}

/** Where the limits decide, a period allows the same whoever makes the calls; where the calls' own time does, only within a stretch. */
function skipPeriods(walk: Walk, queue: Queue): void {
  const found = walk.yieldOf(queue.athletes)
  const calls = queue.callsWhile(athletes => {
    const other = walk.yieldOf(athletes)
    return other.calls === found.calls && other.ms === found.ms
  })
  // The last call is never skipped: when it is answered is what is asked for.
  const periods = Math.floor((calls - 1) / found.calls)
  queue.take(periods * found.calls)
  walk.skip(periods, found)
}

interface Stretch {
  readonly athletes: number
  /** All athletes together. */
  readonly calls: number
}

/** Athletes take turns, call by call: those with fewer calls finish sooner, and fewer athletes share what follows. */
function stretchesOf({ mine, others }: Outlook): Stretch[] {
  const sooner = fewOf(others.filter(({ owed }) => owed < mine)).filter(({ owed }) => owed < mine)
  let athletes = others.reduce((sum, group) => sum + group.athletes, 1)
  let before = 0
  return [...sooner, { owed: mine, athletes: 1 }].map(group => {
    const stretch = { athletes, calls: (group.owed - before) * athletes }
    athletes -= group.athletes
    before = group.owed
    return stretch
  })
}

const MOST_GROUPS = 200

/** Groups by what they owe, least first: as they are where they are few, else in buckets. */
function fewOf(groups: readonly Owed[]): Owed[] {
  const exact = summed(groups)
  return exact.length <= MOST_GROUPS ? exact : summed(exact.map(({ owed, athletes }) => ({ owed: callsBucket(owed), athletes })))
}

function summed(groups: readonly Owed[]): Owed[] {
  const athletes = new Map<number, number>()
  for (const group of groups) athletes.set(group.owed, (athletes.get(group.owed) ?? 0) + group.athletes)
  return [...athletes].map(([owed, count]) => ({ owed, athletes: count })).toSorted((one, other) => one.owed - other.owed)
}

const EXACT_BELOW = 50

/**
 * A number of calls, rounded to one of few: exact below 50, else at most 2 % off. That makes 200 numbers up to 3,200 calls, and 25 more
 * each time that doubles. In SQL, for `group by`:
 * `(round(owed / step) * step)::integer`, where step is `power(2, floor(log(2, greatest(owed, 25) / 25.0)))`
 */
export function callsBucket(owed: number): number {
  const half = EXACT_BELOW / 2
  const step = 2 ** Math.floor(Math.log2(Math.max(owed, half) / half))
  return Math.round(owed / step) * step
}

/** Stretches, one after another, and what is left of them. */
class Queue {
  readonly #stretches: readonly Stretch[]
  #index = 0
  #left: number
  #all: number

  constructor(stretches: readonly Stretch[]) {
    this.#stretches = stretches.filter(({ calls }) => calls > 0)
    this.#left = this.#stretches[0]?.calls ?? 0
    this.#all = stretches.reduce((sum, { calls }) => sum + calls, 0)
  }

  /** Calls left, of the present stretch and of all. */
  get left(): number {
    return this.#left
  }

  get all(): number {
    return this.#all
  }

  /** How many athletes share the present stretch. */
  get athletes(): number {
    return this.#stretches[this.#index]?.athletes ?? 1
  }

  /** Calls left in this stretch and the alike ones after it. Athletes become fewer, so once a stretch is unlike, all later ones are. */
  callsWhile(isAlike: (athletes: number) => boolean): number {
    let [alike, unlike] = [this.#index, this.#stretches.length]
    while (unlike - alike > 1) {
      const middle = Math.floor((alike + unlike) / 2)
      if (isAlike(this.#stretches[middle]?.athletes ?? 1)) alike = middle
      else unlike = middle
    }
    return this.#stretches.slice(this.#index + 1, alike + 1).reduce((sum, { calls }) => sum + calls, this.#left)
  }

  take(calls: number): void {
    this.#all -= calls
    this.#left -= calls
    while (this.#left <= 0 && this.#index < this.#stretches.length - 1) {
      this.#index += 1
      this.#left += this.#stretches[this.#index]?.calls ?? 0
    }
  }
}
