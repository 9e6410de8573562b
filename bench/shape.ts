// What it costs to compute the shape of a three-hour ride with all eleven channels at one sample a second. The reference is the
// least that anybody does with such streams: parsing their JSON.
import { shapeOf, type ShapeChannels } from '../src/shape/shape.ts'
import { channelsOf, STREAM_KEYS } from '../src/simulator/strava/streams.ts'
import { World } from '../src/simulator/world/world.ts'
import type { Bench } from '../scripts/bench.ts'

export const about = 'the shape of a three-hour ride, beside parsing the JSON of its streams'

const ROUNDS = 15
const THREE_HOURS_S = 10_800

function threeHourRide(): ShapeChannels {
  const world = new World({ seed: 3, beginsAt: Date.UTC(2026, 9, 1), bigIds: false })
  world.addAthlete({ activities: 150, nights: 0, broken: 0 })
  const rides = [...world.workouts.values()].filter(({ kind, isManual }) => kind === 'long-ride' && !isManual)
  const channels = rides.map(ride => channelsOf(ride, new Set(STREAM_KEYS))).find(({ time = [] }) => time.length >= THREE_HOURS_S)
  const cut = Object.entries(channels ?? {}).map(([key, row]) => [key, row.slice(0, THREE_HOURS_S)])
  return Object.fromEntries(cut)
}

function milliseconds(work: () => unknown): number[] {
  return Array.from({ length: ROUNDS }, () => {
    const startedAt = performance.now()
    work()
    return performance.now() - startedAt
  })
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

export async function run(): Promise<Bench> {
  const channels = threeHourRide()
  const json = JSON.stringify(channels)
  const [first = Number.NaN, ...later] = milliseconds(() => shapeOf({ sport: 'Ride', channels }))
  const asRun = milliseconds(() => shapeOf({ sport: 'Run', channels }))
  const parse = milliseconds(() => JSON.parse(json))
  return {
    ours: { what: 'shape of a 3-hour ride', value: median(later), unit: 'ms' },
    reference: { what: 'JSON.parse of its streams', value: median(parse), unit: 'ms' },
    also: [
      { what: 'the first shape of a process', value: first, unit: 'ms' },
      { what: 'the same streams as a run', value: median(asRun), unit: 'ms' },
      { what: 'samples', value: channels.time.length, unit: '' },
      { what: 'JSON', value: json.length / 1024, unit: 'KiB' },
    ],
  }
}
