// Splits and best efforts: every metre and every second is in exactly one split, and the fastest span is found wherever it is.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { recording, type Stretch } from '../../test/recording.ts'
import { shortestWindow } from './best-efforts.ts'
import { shapeOf, type BestEffort, type Split } from './shape.ts'

const runOf = (...stretches: Stretch[]) => shapeOf({ sport: 'Run', channels: recording(stretches) })

const stretch = fc.record({
  seconds: fc.integer({ min: 5, max: 400 }),
  mps: fc.constantFrom(0, 0.7, 2.5, 3.3, 4.9),
  isPaused: fc.boolean(),
})
const outing = fc.array(stretch, { minLength: 1, maxLength: 8 })
const sum = (splits: readonly Split[], key: 'elapsedS' | 'movingS' | 'distanceMeters'): number =>
  splits.reduce((total, split) => total + (split[key] ?? 0), 0)

test('five kilometres and a bit are five splits and a bit', () => {
  const { km, mile } = runOf({ seconds: 1750, mps: 3 }).splits
  assert.deepEqual(
    km.map(({ index, distanceMeters }) => [index, distanceMeters]),
    [
      [1, 1000],
      [2, 1000],
      [3, 1000],
      [4, 1000],
      [5, 1000],
      [6, 250],
    ],
  )
  assert(km.every(({ avgPaceSPerKm }) => avgPaceSPerKm !== null && Math.abs(avgPaceSPerKm - 333.3) < 0.2))
  assert.deepEqual(
    mile.map(({ distanceMeters }) => distanceMeters),
    [1609.3, 1609.4, 1609.3, 422],
  )
})

test('a remainder of less than a metre is no split, and its time is not lost', () => {
  const { km } = runOf({ seconds: 500, mps: 4.001 }, { seconds: 60, mps: 0 }).splits
  assert.deepEqual(
    km.map(({ distanceMeters, elapsedS, movingS }) => [distanceMeters, elapsedS, movingS]),
    [
      [1000, 249.9, 249.9],
      [1000.5, 310.1, 250.1],
    ],
  )
})

test('splits add up to the whole, in distance, time and moving time', () => {
  fc.assert(
    fc.property(outing, stretches => {
      const channels = recording(stretches)
      const { splits, segments } = shapeOf({ sport: 'Run', channels })
      const metres = channels.distance.at(-1) ?? 0
      for (const list of [splits.km, splits.mile].filter(({ length }) => length > 0)) {
        assert(Math.abs(sum(list, 'distanceMeters') - metres) < 0.11)
        assert(Math.abs(sum(list, 'elapsedS') - (channels.time.at(-1) ?? 0)) < 1e-6)
        const moving = segments.reduce((total, { movingS }) => total + movingS, 0)
        assert(Math.abs(sum(list, 'movingS') - moving) < 0.11)
      }
      assert(metres < 1 || splits.km.length === Math.max(1, Math.ceil((metres - 1) / 1000)))
    }),
    { numRuns: 60 },
  )
})

test('a kilometre is to a mile as the streams are: scaled by 1.609344, the miles have the times of the kilometres', () => {
  fc.assert(
    fc.property(outing, stretches => {
      const channels = recording(stretches)
      const longer = channels.distance.map(metres => metres * 1.609344)
      const kilometres = shapeOf({ sport: 'Run', channels }).splits.km
      const miles = shapeOf({ sport: 'Run', channels: { ...channels, distance: longer } }).splits.mile
      // A metre more or less decides whether there is a last split; nothing else may differ.
      if (kilometres.length !== miles.length) return
      assert.deepEqual(
        miles.map(({ startS, endS }) => [startS, endS]),
        kilometres.map(({ startS, endS }) => [startS, endS]),
      )
    }),
    { numRuns: 40 },
  )
})

const timeOf = (efforts: readonly BestEffort[], name: string): number | undefined =>
  efforts.find(each => each.name === name)?.elapsedS

test('the fastest kilometre is found where it was run, not where a split begins', () => {
  const { bestEfforts } = runOf({ seconds: 700, mps: 3 }, { seconds: 250, mps: 4 }, { seconds: 300, mps: 3 })
  const best = bestEfforts.find(({ name }) => name === '1 km')
  assert.deepEqual([best?.elapsedS, best?.startS, best?.endS], [250, 700, 950])
  assert.equal(timeOf(bestEfforts, '5 km'), undefined)
})

test('a best effort is the shortest window of all, by trying every one', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 9 }), { minLength: 2, maxLength: 40 }), fc.integer({ min: 1, max: 40 }), (steps, size) => {
      let metres = 0
      const ys = Float64Array.from([0, ...steps.map(step => (metres += step))])
      const xs = Float64Array.from(ys, (_, index) => index)
      const at = (x: number): number => {
        const left = Math.min(Math.floor(x), ys.length - 2)
        return (ys[left] ?? 0) + (x - left) * ((ys[left + 1] ?? 0) - (ys[left] ?? 0))
      }
      const best = shortestWindow(xs, ys, { first: 0, last: ys.length - 1 }, size)
      assert.equal(best !== undefined, metres >= size)
      if (best === undefined) return
      assert(Math.abs(at(best.to) - at(best.from) - size) < 1e-6)
      for (let x = 0; x + best.to - best.from <= steps.length; x += 0.25)
        assert(at(x + best.to - best.from) - at(x) <= size + 1e-6)
    }),
  )
})

test('a jump of the satellite is nobody’s record', () => {
  const channels = recording([{ seconds: 1200, mps: 3 }])
  const distance = channels.distance.map((metres, second) => metres + (second > 600 ? 900 : 0))
  const { bestEfforts } = shapeOf({ sport: 'Run', channels: { ...channels, distance } })
  assert(Math.abs((timeOf(bestEfforts, '1 km') ?? 0) - 333.3) < 0.1)
})

test('the strongest minutes of a ride are averages over the clock, pauses included', () => {
  const channels = recording([
    { seconds: 600, mps: 8, watts: 150 },
    { seconds: 60, mps: 9, watts: 300 },
    { seconds: 540, mps: 8, watts: 150 },
  ])
  const { bestEfforts } = shapeOf({ sport: 'Ride', channels })
  const powers = bestEfforts.flatMap(effort => (effort.kind === 'power' ? [[effort.name, effort.avgPowerWatts]] : []))
  assert.deepEqual(powers, [
    ['5 s', 300],
    ['1 min', 300],
    ['5 min', 180],
    ['20 min', 158],
  ])
})
