// Heart rates that are errors of the sensor, and what is then not said about them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recording } from '../../test/recording.ts'
import { doubtsOf, type Doubt } from './heart-rate.ts'
import { samplesOf } from './samples.ts'
import { shapeOf, type ShapeChannels } from './shape.ts'

const hour = recording([{ seconds: 3600, mps: 3 }])
const withBeats = (beatAt: (second: number) => number | null): ShapeChannels => ({ ...hour, heartrate: hour.time.map(beatAt) })
const waver = (second: number): number => Math.round(4 * Math.sin(second / 40) + (second % 3))
const doubts = (channels: ShapeChannels): Doubt[] => doubtsOf(samplesOf('run', channels))

const IMPLAUSIBLE: readonly (readonly [string, Doubt, (second: number) => number | null])[] = [
  ['a sensor that repeats its last value', 'flat', second => (second < 1500 ? 140 + waver(second) : 151)],
  ['a strap that drops out half the time', 'missing', second => (second % 100 < 50 ? 0 : 140 + waver(second))],
  ['a sensor that sends nothing for long', 'missing', second => (second < 2000 ? null : 140 + waver(second))],
  ['a sensor that doubles the beats now and then', 'jumps', second => (second % 240 < 5 ? 200 : 130 + waver(second))],
  ['a heart beyond all hearts', 'range', second => (second % 60 < 4 ? 245 : 225 + (second % 5))],
  ['a watch that counts steps', 'cadence', second => 170 + (second % 3) - 1],
]

for (const [name, doubt, beatAt] of IMPLAUSIBLE) {
  test(`${name} is doubted (${doubt}), and nothing is said about the heart`, () => {
    const channels = withBeats(beatAt)
    assert(doubts(channels).includes(doubt), doubts(channels).join(', '))
    const shape = shapeOf({ sport: 'Run', channels, maxHeartRate: 190 })
    assert.deepEqual([shape.heartRate, shape.drift, shape.zones], ['doubtful', null, null])
    assert(shape.segments.every(({ avgHeartRateBpm }) => avgHeartRateBpm === null))
    assert(!shape.sentence.includes('heart'), shape.sentence)
  })
}

test('a heart that wavers, is missed now and then and climbs with the work is trusted', () => {
  const channels = withBeats(second =>
    second % 90 === 0 ? null : Math.round(110 + 40 * (1 - Math.exp(-second / 60))) + waver(second),
  )
  assert.deepEqual(doubts(channels), [])
  const { heartRate, drift, zones, sentence } = shapeOf({ sport: 'Run', channels })
  assert.equal(heartRate, 'trusted')
  assert(drift && zones)
  assert.match(sentence, /steady heart rate/)
})

test('the time in all zones is the time in which the heart was heard, pauses left out', () => {
  const channels = recording([
    { seconds: 600, mps: 3, bpm: 120 },
    { seconds: 300, mps: 3, isPaused: true },
    { seconds: 900, mps: 4, bpm: 165 },
  ])
  const { zones } = shapeOf({ sport: 'Run', channels, maxHeartRate: 200 })
  assert.deepEqual(
    zones?.items.map(({ belowBpm }) => belowBpm),
    [120, 140, 160, 180, null],
  )
  assert.equal(
    zones.items.reduce((sum, { seconds }) => sum + seconds, 0),
    1499,
  )
  assert(Math.abs((zones.items[3]?.seconds ?? 0) - 860) < 5)
  assert.equal(zones.basis, 'maximum')
})

test("an athlete's own zones are used as they are; an unknown maximum is said to be assumed", () => {
  const given = shapeOf({ sport: 'Run', channels: hour, zones: [130, 150] }).zones
  assert.deepEqual([given?.basis, given?.items.length, given?.items[1]?.fromBpm], ['given', 3, 130])
  assert.deepEqual([shapeOf({ sport: 'Run', channels: hour }).zones?.basis], ['assumed'])
  assert.equal(shapeOf({ sport: 'Run', channels: hour, zones: [150, 130] }).zones?.basis, 'assumed')
})

test('a heart that works more for the same pace has drifted', () => {
  const steady = (bpm: number) => ({ seconds: 1500, mps: 3, bpm })
  const { drift, moments, sentence } = shapeOf({ sport: 'Run', channels: recording([steady(140), steady(154)]) })
  assert(drift && Math.abs(drift.percent - 7.5) < 2.5, String(drift?.percent))
  assert.deepEqual([drift.over, drift.effort], ['steady', 'gradeAdjustedSpeed'])
  const [onset] = moments.filter(({ kind }) => kind === 'drift-onset')
  assert(onset && Math.abs(onset.startS - 1500) < 300, JSON.stringify(moments))
  assert.match(sentence, /heart rate drifting up [78] %/)
})
