// A watch that records exactly what it is told, second by second, for tests of what is read from streams.
import type { ShapeChannels } from '../src/shape/shape.ts'

export interface Stretch {
  readonly seconds: number
  readonly mps: number
  readonly bpm?: number
  readonly cadence?: number
  readonly watts?: number
  /** A ratio. */
  readonly slope?: number
  /** The watch pauses: the time passes and nothing is recorded. */
  readonly isPaused?: boolean
}

export type Recording = { readonly [K in Exclude<keyof ShapeChannels, 'latlng' | 'moving' | 'temp'>]-?: number[] } & {
  readonly moving: boolean[]
}

const HEARTBEAT = [0, 1, 0, -1, 0, 1, 1, 0, -1, 0, 0, -1]

/** One sample a second; the heart changes by a beat a second and wavers by one, as hearts do. */
export function recording(stretches: readonly Stretch[]): Recording {
  const rows: Recording = {
    time: [],
    distance: [],
    altitude: [],
    velocity_smooth: [],
    heartrate: [],
    cadence: [],
    watts: [],
    moving: [],
    grade_smooth: [],
  }
  let [second, metres, altitude, beats] = [0, 0, 100, stretches[0]?.bpm ?? 140]
  const record = ({ mps, bpm = 140, cadence = 85, watts = 0, slope = 0 }: Stretch): void => {
    rows.time.push(second)
    rows.distance.push(metres)
    rows.altitude.push(altitude)
    rows.velocity_smooth.push(mps)
    beats += Math.sign(bpm - beats)
    rows.heartrate.push(beats + (HEARTBEAT[second % HEARTBEAT.length] ?? 0))
    rows.cadence.push(mps > 0 ? cadence : 0)
    rows.watts.push(watts)
    rows.moving.push(mps > 0)
    rows.grade_smooth.push(slope * 100)
  }
  const [first] = stretches
  if (first) record(first)
  for (const stretch of stretches) {
    if (stretch.isPaused === true) second += stretch.seconds
    else
      for (let passed = 0; passed < stretch.seconds; passed++) {
        second += 1
        metres += stretch.mps
        altitude += stretch.mps * (stretch.slope ?? 0)
        record(stretch)
      }
  }
  return rows
}

/** `count` times `work`, with `rest` in between. */
export const repeated = (count: number, work: Stretch, rest: Stretch): Stretch[] =>
  Array.from({ length: count }, (_, index) => (index < count - 1 ? [work, rest] : [work])).flat()
