// A walk through the coming windows that sends backfill calls as fast as the permits allow. Whole periods (the longest window: a day) are
// alike, so that a long walk takes no more steps than a few days of it.
import { paceMs } from './pace.ts'
import type { MeterState } from './state.ts'
import { opensAt, roomAt, Tally, wakesAt } from './tally.ts'

export interface CallTimes {
  /** The mean time of a call and its standard deviation. The deviation matters because athletes who take turns wait for one another. */
  readonly callMs: number
  readonly spreadMs: number
}

export interface Gait extends CallTimes {
  /** The state of every meter that such a call is counted in. */
  readonly states: readonly MeterState[]
  readonly paced: boolean
  /** How many calls run at the same time, over all processes; as many as there are athletes when undefined. */
  readonly atOnce?: number | undefined
}

/** What a period allows. It lasts a little longer where the last round before its end is over only after it. */
export interface Yield {
  readonly calls: number
  readonly ms: number
}

/** When several athletes pace themselves, the pace changes with every round; it is near enough after this part of what is left. */
const PACED_PART = 1 / 32

export class Walk {
  readonly #gait: Gait
  readonly #tallies: readonly Tally[]
  readonly #periodMs: number
  readonly #yields = new Map<number, Yield>()
  #period: number
  #everyMs: number
  #at: number
  #doneAt: number

  constructor(gait: Gait, from: number) {
    this.#gait = gait
    this.#tallies = gait.states.map(state => new Tally(state, from))
    this.#periodMs = Math.max(1, ...gait.states.map(({ meter }) => meter.windowMs))
    this.#period = Math.floor(from / this.#periodMs)
    this.#everyMs = gait.callMs
    this.#doneAt = from
    this.#at = opensAt(this.#tallies, from)
  }

  /** When the last call so far is answered. */
  get doneAt(): number {
    return this.#doneAt
  }

  /** Sends at most `left` calls of as many athletes, or waits. Gives the number of calls that were sent. */
  step(athletes: number, left: number): number {
    const room = roomAt(this.#tallies, this.#at)
    const sent = room < 1 ? 0 : this.#send(athletes, left, room)
    this.#at = opensAt(this.#tallies, sent === 0 ? wakesAt(this.#tallies, this.#at) : this.#at)
    return sent
  }

  /** True once at the beginning of each whole period. */
  beginsPeriod(): boolean {
    if (this.#gait.states.length === 0) return false
    const period = Math.floor(this.#at / this.#periodMs)
    if (period === this.#period) return false
    this.#period = period
    // Whoever was kept out until later has only a part of it. The last round before an edge may end after it.
    const edgeMs = Math.max(...this.#tallies.map(({ meter }) => meter.guardMs))
    return this.#at - period * this.#periodMs <= edgeMs + this.#everyMs
  }

  /** What a whole period allows to so many athletes. */
  yieldOf(athletes: number): Yield {
    const slots = this.#slotsOf(athletes)
    const known = this.#yields.get(slots)
    if (known !== undefined) return known
    const states = this.#gait.states.map(state => ({ ...state, used: 0, closedUntil: undefined }))
    const whole = new Walk({ ...this.#gait, states }, this.#period * this.#periodMs)
    const openedAt = whole.#at
    const calls = whole.#sendUntil((this.#period + 1) * this.#periodMs, athletes)
    const found = { calls, ms: whole.#at - openedAt }
    this.#yields.set(slots, found)
    return found
  }

  /** The periods must be used up as this one would be. */
  skip(periods: number, { ms }: Yield): void {
    this.#at += periods * ms
    this.#period = Math.floor(this.#at / this.#periodMs)
  }

  #sendUntil(end: number, athletes: number): number {
    let sent = 0
    while (this.#at < end) sent += this.step(athletes, Number.POSITIVE_INFINITY)
    return sent
  }

  #send(athletes: number, left: number, room: number): number {
    const { paced, callMs } = this.#gait
    const slots = this.#slotsOf(athletes)
    this.#everyMs = this.#everyMsOf(athletes, slots)
    const rounds = paced && athletes > 1 ? Math.ceil((room * PACED_PART) / slots) : this.#roundsUntilEdge()
    const sent = Math.min(left, room, rounds * slots)
    for (const tally of this.#tallies) tally.used += sent
    const lastMs = Math.max(0, (sent / slots - 1) * this.#everyMs)
    this.#doneAt = this.#at + lastMs + callMs
    this.#at += (sent / slots) * this.#everyMs
    return sent
  }

  #slotsOf(athletes: number): number {
    return Math.min(athletes, this.#gait.atOnce ?? athletes)
  }

  /** The time from one round of calls, one in each slot, to the next. */
  #everyMsOf(athletes: number, slots: number): number {
    const round = roundMs(this.#gait, athletes)
    if (!this.#gait.paced) return round
    const paces = this.#tallies
      .filter(({ meter }) => meter.shortest)
      .map(tally => paceMs({ secondsLeft: (tally.endAt(this.#at) - this.#at) / 1_000, budgetLeft: tally.roomAt(this.#at) }))
    // Each athlete keeps the pace, and several share a slot.
    return Math.max(round, ...paces.map(pace => (pace * slots) / athletes))
  }

  /** How many rounds can begin before the next edge. */
  #roundsUntilEdge(): number {
    const edge = Math.min(...this.#tallies.map(tally => tally.endAt(this.#at) - tally.meter.guardMs))
    return Math.max(1, Math.ceil((edge - this.#at) / this.#everyMs))
  }
}

/**
 * Slots take the next call as soon as they are free. Without them athletes take turns: one starts a call only after all others have
 * started theirs, so calls of different length make some wait. With many athletes and evenly spread times the wait is half of the
 * deviation; this was found by simulation.
 */
function roundMs({ callMs, spreadMs, atOnce }: Gait, athletes: number): number {
  return atOnce === undefined ? callMs + (spreadMs / 2) * ((athletes - 1) / (athletes + 1)) : callMs
}
