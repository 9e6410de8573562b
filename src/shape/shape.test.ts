// Whole workouts: the shape is what the athlete meant to do.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recording, repeated, type Stretch } from '../../test/recording.ts'
import { shapeOf, type Shape } from './shape.ts'

const shaped = (stretches: readonly Stretch[], sport = 'Run'): Shape => shapeOf({ sport, channels: recording(stretches) })
const kindsOf = ({ segments }: Shape): string => segments.map(({ kind }) => kind).join(' ')
const warm: Stretch = { seconds: 900, mps: 2.8, bpm: 130 }
const cool: Stretch = { seconds: 600, mps: 2.6, bpm: 130 }
const track = [warm, ...repeated(6, { seconds: 180, mps: 4.445, bpm: 168 }, { seconds: 160, mps: 2.5, bpm: 140 }), cool]

test('six times 800 m is told as such, with its edges to the second', () => {
  const shape = shaped(track)
  assert.equal(kindsOf(shape), `warm-up ${'work recovery '.repeat(5)}work cool-down`)
  const [first] = shape.segments.filter(({ kind }) => kind === 'work')
  assert(first && Math.abs(first.startS - 900) <= 2 && Math.abs(first.endS - 1080) <= 2)
  assert(Math.abs((first.avgPaceSPerKm ?? 0) - 225) < 5)
  assert.match(shape.sentence, /^6 × (?:800 m|3 min) with 400 m jog, steady heart rate, evenly paced$/)
  assert(shape.confidence > 0.8)
})

test('the last repetition is called the fastest when it was', () => {
  const reps = repeated(5, { seconds: 120, mps: 4.4 }, { seconds: 90, mps: 2.4 })
  const faster = [...reps.slice(0, -1), { seconds: 120, mps: 4.7 }]
  assert.match(shaped([warm, ...faster, cool]).sentence, /^5 × 2 min with 90 s jog, .*last rep fastest$/)
})

test('repetitions that get slower fade', () => {
  const reps = [4.7, 4.6, 4.5, 4.3, 4.2, 4.1].flatMap(mps => [
    { seconds: 120, mps },
    { seconds: 90, mps: 2.4 },
  ])
  const { moments, sentence } = shaped([warm, ...reps, cool])
  assert.deepEqual(
    moments.map(({ kind }) => kind),
    ['fade'],
  )
  assert.match(sentence, /fading towards the end$/)
})

test('a standing rest is a recovery, recorded or paused', () => {
  for (const isPaused of [false, true]) {
    const shape = shaped([warm, ...repeated(5, { seconds: 90, mps: 4.6 }, { seconds: 60, mps: 0, isPaused }), cool])
    assert.equal(kindsOf(shape), `warm-up ${'work recovery '.repeat(4)}work cool-down`)
    assert.match(shape.sentence, /^5 × 90 s with 1 min rest/)
  }
})

test('long repetitions with standing rests are intervals, though together they are most of the run', () => {
  const shape = shaped([{ ...warm, seconds: 600 }, ...repeated(6, { seconds: 360, mps: 4.1 }, { seconds: 60, mps: 0 }), cool])
  assert.equal(kindsOf(shape), `warm-up ${'work recovery '.repeat(5)}work cool-down`)
})

test('a run that swells and ebbs over minutes has no intervals', () => {
  const waves = Array.from({ length: 300 }, (_, index) => ({ seconds: 10, mps: 3 + 0.5 * Math.sin(index / 8) }))
  assert(!kindsOf(shaped(waves)).includes('work'))
})

test('a few walks at odd times leave a run without intervals', () => {
  const walk: Stretch = { seconds: 50, mps: 1.3 }
  const shape = shaped([500, 900, 300, 1200].flatMap(seconds => [{ seconds, mps: 3 }, walk]))
  assert(!kindsOf(shape).includes('work'))
})

test('red lights and auto-pauses leave a steady run in one piece', () => {
  const shape = shaped(
    [400, 700, 300, 900, 350].flatMap((seconds, index) => [
      { seconds, mps: 3.1 },
      { seconds: 12 + 9 * index, mps: 0, isPaused: index % 2 === 1 },
    ]),
  )
  assert.equal(kindsOf(shape), 'steady')
  assert.match(shape.sentence, /^Steady 8\.2 km run at 5:2\d \/km/)
})

test('a hill is no interval and its descent no recovery, also for who pushes up a little', () => {
  const hill = (slope: number, mps: number): Stretch => ({ seconds: 150, mps, slope })
  for (const up of [2.3, 2.6])
    assert.equal(kindsOf(shaped([warm, ...repeated(5, hill(0.07, up), hill(-0.07, 3.2)), cool])), 'steady')
})

test('a climb that is ridden harder than the flat is no interval; the same power on the flat is', () => {
  const ride = (slope: number): Shape => {
    const climbs = repeated(5, { seconds: 240, mps: 5, watts: 240, slope }, { seconds: 240, mps: 9, watts: 180 })
    return shaped([{ seconds: 900, mps: 9, watts: 180 }, ...climbs, { seconds: 900, mps: 9, watts: 180 }], 'Ride')
  }
  assert.equal(kindsOf(ride(0.06)), 'steady')
  assert.match(ride(0).sentence, /^5 × 4 min at 240 W/)
})

test('repetitions up a hill are intervals by their effort, though no faster than the warm-up', () => {
  const hills = repeated(6, { seconds: 90, mps: 3, slope: 0.08 }, { seconds: 110, mps: 2.5, slope: -0.08 })
  assert.equal(shaped([warm, ...hills, cool]).segments.filter(({ kind }) => kind === 'work').length, 6)
})

test('strides after an easy run do not make the run a warm-up', () => {
  const strides = repeated(6, { seconds: 20, mps: 5.2 }, { seconds: 70, mps: 2.6 })
  const shape = shaped([{ seconds: 2100, mps: 2.9 }, ...strides, { seconds: 300, mps: 2.7 }])
  assert.equal(kindsOf(shape), `steady ${'work recovery '.repeat(5)}work cool-down`)
  assert.match(shape.sentence, /^6 × (?:20 s|100 m) with/)
})

test('an easier beginning and end of a steady run have their names', () => {
  assert.equal(
    kindsOf(
      shaped([
        { seconds: 600, mps: 2.5 },
        { seconds: 2400, mps: 3.2 },
        { seconds: 400, mps: 2.4 },
      ]),
    ),
    'warm-up steady cool-down',
  )
})

test('one quick minute is a surge, one quick quarter of an hour an effort', () => {
  const quick = (seconds: number): Shape =>
    shaped([
      { seconds: 1500, mps: 3 },
      { seconds, mps: 3.9 },
      { seconds: 1500, mps: 3 },
    ])
  assert.equal(kindsOf(quick(60)), 'steady')
  assert.deepEqual(
    quick(60).moments.map(({ kind }) => kind),
    ['surge'],
  )
  assert.match(quick(900).sentence, /^One effort of 15 min/)
})

test('who slows down at the end fades; whose steps slow at the same pace drops cadence', () => {
  const fading = shaped([
    { seconds: 2400, mps: 3.4 },
    { seconds: 900, mps: 3.05 },
  ])
  assert(fading.moments.some(({ kind, startS }) => kind === 'fade' && Math.abs(startS - 2400) < 240))
  assert.match(fading.sentence, /fading by 1\d %/)
  const dropping = shaped([
    { seconds: 1800, mps: 3 },
    { seconds: 400, mps: 3, cadence: 78 },
    { seconds: 900, mps: 3 },
  ])
  const [drop] = dropping.moments.filter(({ kind }) => kind === 'cadence-drop')
  assert(drop && Math.abs(drop.startS - 1800) < 60 && Math.abs(drop.endS - 2200) < 90, JSON.stringify(dropping.moments))
})

test('a ride is read by its power', () => {
  const reps = repeated(5, { seconds: 240, mps: 9, watts: 290 }, { seconds: 120, mps: 8.8, watts: 120 })
  const ride = shaped([{ seconds: 1200, mps: 9, watts: 170 }, ...reps, { seconds: 900, mps: 9, watts: 150 }], 'VirtualRide')
  assert.match(ride.sentence, /^5 × 4 min at 2[89]\d W with 2 min easy/)
  assert(ride.segments.every(({ avgGradeAdjustedPaceSPerKm }) => avgGradeAdjustedPaceSPerKm === null))
})

test('lengths in the pool are found by their rests', () => {
  const swim = shaped(repeated(10, { seconds: 90, mps: 1.1 }, { seconds: 20, mps: 0 }), 'Swim')
  assert.match(swim.sentence, /^10 × (?:100 m|90 s) with 20 s rest/)
})

test('whatever is missing, something true is said', () => {
  const { time, heartrate, distance } = recording(track)
  assert.equal(shapeOf({ sport: 'Run', channels: { time } }).sentence, '56 min run')
  assert(shapeOf({ sport: 'Run', channels: { time } }).confidence <= 0.1)
  assert.equal(shapeOf({ sport: 'Run', channels: { time, distance } }).segments.length, 13)
  assert(shapeOf({ sport: 'Workout', channels: { time, heartrate } }).confidence < 0.5)
  assert.match(
    shapeOf({ sport: 'Yoga', channels: { time, heartrate: heartrate.map((_, index) => 95 + (index % 3)) } }).sentence,
    /^56 min session at a heart rate of 96$/,
  )
  assert.equal(shapeOf({ sport: 'Run', channels: { time: [] } }).sentence, 'Nothing was recorded')
  const short = shaped([{ seconds: 40, mps: 3 }])
  assert.deepEqual([kindsOf(short), short.confidence <= 0.1, short.sentence], ['steady', true, 'Short recording of 40 s'])
})

test('a sport has its own word', () => {
  const channels = recording([{ seconds: 3600, mps: 1.4 }])
  const said = (sport: string): string => shapeOf({ sport, channels }).sentence.split(' at ')[0] ?? ''
  assert.deepEqual(['Hike', 'Walk', 'TrailRun', 'EBikeRide', 'VIRTUAL_RUN', 'Kitesurf'].map(said), [
    'Steady 5 km hike',
    'Steady 5 km walk',
    'Steady 5 km run',
    'Steady 5 km ride',
    'Steady 5 km run',
    'Steady 5 km session',
  ])
})

test('zeros for what an indoor watch cannot measure are no standing: the heart speaks', () => {
  const sets = repeated(8, { seconds: 90, mps: 0, bpm: 165 }, { seconds: 120, mps: 0, bpm: 115 })
  const shape = shapeOf({ sport: 'Run', channels: recording(sets) })
  assert.match(shape.sentence, /^8 (?:×|intervals of) .* with .* easy$/)
  assert(shape.segments.every(({ avgHeartRateBpm, distanceMeters }) => avgHeartRateBpm !== null && distanceMeters === null))
})

test('a climb is counted, a barometer that flutters is not', () => {
  const hill = recording([
    { seconds: 600, mps: 3 },
    { seconds: 430, mps: 2.1, slope: 0.1 },
    { seconds: 300, mps: 3.2, slope: -0.05 },
    { seconds: 600, mps: 3 },
  ])
  const altitude = hill.altitude.map((metres, second) => metres + (second % 2) * 0.8)
  const { segments, sentence } = shapeOf({ sport: 'Run', channels: { ...hill, altitude } })
  const climbed = segments.reduce((sum, { climbMeters }) => sum + (climbMeters ?? 0), 0)
  assert(Math.abs(climbed - 90) < 4, String(climbed))
  assert.match(sentence, /with (?:8[789]|9[0-3]) m of climbing/)
})

test('places alone are enough for a distance', () => {
  const { time, distance } = recording([{ seconds: 1000, mps: 3 }])
  const latlng = distance.map((metres): [number, number] => [50 + metres / 111_195, 8])
  const metres = shapeOf({ sport: 'Run', channels: { time, latlng } }).segments.reduce(
    (sum, { distanceMeters }) => sum + (distanceMeters ?? 0),
    0,
  )
  assert(Math.abs(metres - 3000) < 10, String(metres))
})

test('a day of seconds has a shape', () => {
  const day = shaped(Array.from({ length: 24 }, (_, hour) => ({ seconds: 3600, mps: 2.4 - hour * 0.02 })))
  assert.equal(day.splits.km.length, 188)
  assert.equal(day.segments.at(-1)?.endS, 86_400)
})
