// What the vendor's limits allow an import, worked out from the documents alone: a share of every quarter and of every day, less what is
// left to live calls. Shares no code with the product, so that a mistake there is not repeated here.
import { DAY_MS, QUARTER_MS } from '../durations.ts'

export interface Allowance {
  /** Calls a quarter and a day. */
  readonly limits: readonly [quarter: number, day: number]
  readonly backfillYield: number
  readonly liveReserve: number
}

const BUFFER = 0.05
/** Nothing is sent this close to an edge. */
export const GUARD_MS = 3_000
/** Of a small limit live calls get a quarter at the most. */
const SPARED = 0.25

const usable = (limit: number): number => Math.floor(limit * (1 - BUFFER) + 1e-9)
const spared = (wish: number, allowed: number): number => Math.min(wish, Math.floor(allowed * SPARED))

/** In one quarter, live calls included. */
export const ofQuarter = ({ limits: [quarter], backfillYield }: Allowance): number =>
  usable(quarter) - spared(backfillYield, usable(quarter))

/** Up to an instant of the day: the reserve has decayed by then as far as the day has passed. */
export function ofDay({ limits: [, day], liveReserve }: Allowance, at: number): number {
  const leftMs = DAY_MS - (at % DAY_MS)
  return usable(day) - Math.floor((spared(liveReserve, usable(day)) * leftMs) / DAY_MS)
}

/** The calls that an import may make in each quarter from the one of `from` on, when it takes all it can get until `total` are made. */
export function soonest(allowance: Allowance, from: number, total: number): { startAt: number; calls: number }[] {
  const quarters: { startAt: number; calls: number }[] = []
  let [left, today] = [total, 0]
  for (let startAt = Math.floor(from / QUARTER_MS) * QUARTER_MS; left > 0; startAt += QUARTER_MS) {
    if (startAt % DAY_MS === 0) today = 0
    const room = ofDay(allowance, startAt + QUARTER_MS - GUARD_MS - 1) - today
    const calls = Math.max(0, Math.min(left, ofQuarter(allowance), room))
    quarters.push({ startAt, calls })
    today += calls
    left -= calls
  }
  return quarters
}
