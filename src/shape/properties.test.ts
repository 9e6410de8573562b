// The door's laws: what holds for every recording, and for channels that hold anything at all.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { recording, type Recording } from '../../test/recording.ts'
import { SHAPE_VERSION, shapeOf, type Shape, type ShapeChannels } from './shape.ts'
import { runs } from '../../test/runs.ts'

const stretch = fc.record({
  seconds: fc.integer({ min: 5, max: 500 }),
  mps: fc.constantFrom(0, 1.3, 2.6, 3, 4.2),
  bpm: fc.integer({ min: 110, max: 170 }),
  slope: fc.constantFrom(0, 0, 0.05, -0.05),
  isPaused: fc.constantFrom(false, false, false, true),
})
const outing = fc.array(stretch, { minLength: 1, maxLength: 10 }).map(recording)
/** Without any ground covered the heart speaks for the legs. */
const movedOuting = outing.filter(({ distance }) => (distance.at(-1) ?? 0) > 0)
const sport = fc.constantFrom('Run', 'Ride', 'Swim', 'Yoga', 'TRAIL_RUNNING')
const optional = ['distance', 'altitude', 'velocity_smooth', 'heartrate', 'cadence', 'watts', 'moving', 'grade_smooth'] as const

test('segments follow each other from the first sample to the last and add up to the whole', () => {
  fc.assert(
    fc.property(outing, sport, (channels, sport) => {
      const { segments } = shapeOf({ sport, channels })
      if (channels.time.length < 2) return
      assert.equal(segments[0]?.startS, 0)
      assert.equal(segments.at(-1)?.endS, channels.time.at(-1))
      segments.slice(1).forEach(({ startS }, index) => assert.equal(startS, segments[index]?.endS))
      const metres = segments.reduce((sum, { distanceMeters }) => sum + (distanceMeters ?? 0), 0)
      assert(Math.abs(metres - (channels.distance.at(-1) ?? 0)) < 0.11)
    }),
    { numRuns: runs(40, 80) },
  )
})

/** Every time moved by so much; sums of tenths are compared as tenths. */
function shifted<T>(value: T, byS: number): T {
  const move = (key: string, each: unknown): unknown =>
    (key === 'startS' || key === 'endS') && typeof each === 'number' ? Number((each + byS).toFixed(1)) : each
  return JSON.parse(JSON.stringify(value), move) as T
}

test('a later start of the time moves the times and nothing else', () => {
  fc.assert(
    fc.property(outing, sport, fc.integer({ min: -1_000_000, max: 2_000_000 }), (channels, sport, byS) => {
      const later = { ...channels, time: channels.time.map(second => second + byS) }
      assert.deepEqual(shifted(shapeOf({ sport, channels: later }), 0), shifted(shapeOf({ sport, channels }), byS))
    }),
    { numRuns: 40 },
  )
})

test('the same streams have the same shape, and are not touched', () => {
  fc.assert(
    fc.property(outing, sport, (channels, sport) => {
      const before = structuredClone(channels)
      const frozen = Object.fromEntries(
        Object.entries(channels).map(([key, series]) => [key, Object.freeze(series)]),
      ) as Recording
      assert.deepEqual(shapeOf({ sport, channels: frozen }), shapeOf({ sport, channels: before }))
      assert.deepEqual(frozen, before)
    }),
    { numRuns: 30 },
  )
})

/** What may change without a channel. Cadence tells whether beats are steps; distance tells a pause from sparse sampling. */
const READ_FROM: Readonly<Record<(typeof optional)[number], readonly (keyof Shape)[]>> = {
  heartrate: ['drift', 'zones', 'heartRate', 'sentence', 'moments', 'segments', 'splits'],
  cadence: ['moments', 'segments', 'splits', 'heartRate', 'drift', 'zones', 'sentence'],
  watts: ['segments', 'splits'],
  altitude: ['segments', 'splits', 'sentence'],
  grade_smooth: ['segments', 'splits', 'drift', 'moments', 'sentence', 'confidence'],
  moving: ['segments', 'splits', 'drift', 'moments', 'sentence', 'confidence'],
  velocity_smooth: ['segments', 'drift', 'moments', 'sentence', 'confidence', 'splits'],
  distance: ['segments', 'splits', 'drift', 'moments', 'sentence', 'bestEfforts', 'confidence', 'zones', 'heartRate'],
}

test('a run without one of its channels loses only what is read from that channel', () => {
  fc.assert(
    fc.property(movedOuting, fc.constantFrom(...optional), (channels, key) => {
      const { [key]: _, ...others } = channels
      const [whole, less] = [shapeOf({ sport: 'Run', channels }), shapeOf({ sport: 'Run', channels: others })]
      for (const part of Object.keys(whole) as (keyof Shape)[])
        if (!READ_FROM[key].includes(part)) assert.deepEqual(less[part], whole[part], `${part} without ${key}`)
    }),
    { numRuns: runs(40, 100) },
  )
})

test('without the heart, the power or the steps a run has the same segments, but for their averages', () => {
  const bare = ({ segments }: Shape): unknown =>
    segments.map(segment => ({ ...segment, avgHeartRateBpm: null, avgPowerWatts: null, avgCadenceRpm: null }))
  fc.assert(
    fc.property(movedOuting, fc.constantFrom('heartrate', 'watts', 'cadence'), (channels, key) => {
      const { [key as 'watts']: _, ...others } = channels
      assert.deepEqual(bare(shapeOf({ sport: 'Run', channels: others })), bare(shapeOf({ sport: 'Run', channels })))
    }),
    { numRuns: runs(30, 60) },
  )
})

const wild = fc.oneof(
  fc.constantFrom(null, undefined, NaN, Infinity, -Infinity, 0, -1, 1e308, '7', true, {}),
  fc.double(),
  fc.integer({ min: -10, max: 400 }),
)
const garbage = fc.oneof(fc.constant(undefined), fc.constant(null), fc.array(wild, { maxLength: 80 }))
const wildTime = fc.oneof(
  fc.array(wild, { maxLength: 80 }),
  fc.integer({ min: 0, max: 80 }).map(length => Array.from({ length }, (_, index) => index * 7)),
)

function isJson(value: unknown, path = 'shape'): void {
  if (typeof value === 'number') assert(Number.isFinite(value), `${path} is ${value}`)
  else if (typeof value === 'object' && value !== null)
    for (const [key, each] of Object.entries(value)) isJson(each, `${path}.${key}`)
  else assert(value === null || typeof value === 'string', `${path} is ${String(value)}`)
}

test('whatever the channels hold, nothing throws and everything is JSON', () => {
  const rows = Object.fromEntries([...optional, 'latlng'].map(key => [key, garbage]))
  const channels = fc.record({ ...rows, time: wildTime })
  fc.assert(
    fc.property(channels, fc.oneof(sport, fc.string()), fc.double(), (channels, sport, maxHeartRate) => {
      const shape = shapeOf({ sport, channels: channels as unknown as ShapeChannels, maxHeartRate })
      isJson(shape)
      assert.deepEqual(JSON.parse(JSON.stringify(shape)), shape)
      assert(shape.confidence >= 0 && shape.confidence <= 1 && shape.version === SHAPE_VERSION && shape.sentence !== '')
    }),
    { numRuns: runs(150, 400) },
  )
})

test('samples that come twice or backwards are left out', () => {
  const channels = recording([{ seconds: 900, mps: 3 }])
  const doubled = Object.fromEntries(
    Object.entries(channels).map(([key, series]) => [key, series.flatMap(value => [value, value])]),
  ) as unknown as ShapeChannels
  assert.deepEqual(shapeOf({ sport: 'Run', channels: doubled }), shapeOf({ sport: 'Run', channels }))
})
