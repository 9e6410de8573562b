import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { asleepSeconds } from './nights.ts'
import { recordingOf } from './recordings.ts'
import { summaryOf } from './summaries.ts'
import type { Workout } from './workouts.ts'
import { World, type WorldOptions } from './world.ts'

const NOW = Date.UTC(2026, 9, 1, 12)

function made(count: number, options: Partial<WorldOptions> = {}): World {
  const world = new World({ seed: 7, beginsAt: NOW, bigIds: false, ...options })
  world.addAthlete({ seed: options.seed ?? 7, activities: count, nights: 90, broken: 0 })
  return world
}

const workoutsIn = (world: World): Workout[] => [...world.workouts.values()]
const first = (world: World): Workout => workoutsIn(world)[0] ?? assert.fail('an empty world')

test('the same seed and day make the same world, samples included', () => {
  const [one, two] = [made(40), made(40)]
  assert.deepEqual(workoutsIn(one), workoutsIn(two))
  assert.deepEqual([...one.nights.oura.values()], [...two.nights.oura.values()])
  assert.deepEqual(recordingOf(first(one)), recordingOf(first(two)))
  const other = made(40, { seed: 8 })
  const starts = (world: World): number[] => workoutsIn(world).map(({ startAt }) => startAt)
  assert.notDeepEqual(starts(one), starts(other))
  assert.notDeepEqual(recordingOf(first(one)).heartrate, recordingOf(first(other)).heartrate)
})

test('exactly as many activities as asked for, none of them from the future', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 1e6 }), (count, seed) => {
      const workouts = workoutsIn(made(count, { seed }))
      assert.equal(workouts.length, count)
      for (const { startAt, uploadedAt } of workouts) assert(startAt < uploadedAt && uploadedAt <= NOW)
    }),
    { numRuns: 30 },
  )
})

test('a history of 700 spans years and has every oddity', () => {
  const workouts = workoutsIn(made(700))
  const starts = workouts.map(({ startAt }) => startAt)
  assert(Math.max(...starts) - Math.min(...starts) > 1.8 * 365 * 86_400_000)
  const kinds = new Set(workouts.map(({ kind }) => kind))
  assert.equal(kinds.size, 10)
  const oddities: Record<string, (workout: Workout) => boolean> = {
    private: ({ isPrivate }) => isPrivate,
    manual: ({ isManual }) => isManual,
    photos: ({ photos }) => photos > 0,
    'back-dated': ({ uploadedAt, startAt }) => uploadedAt - startAt > 3 * 86_400_000,
    treadmill: ({ isTrainer }) => isTrainer,
    'equal start': ({ startAt, id }) => workouts.some(other => other.id !== id && other.startAt === startAt),
  }
  for (const [name, fits] of Object.entries(oddities)) {
    const share = workouts.filter(fits).length / workouts.length
    assert(share > 0.005 && share < 0.25, `${name}: ${share}`)
  }
  assert(!workouts.some(({ broken }) => broken !== undefined))
})

test('ids grow with the upload, not with the start', () => {
  const byId = workoutsIn(made(300)).toSorted((a, b) => Number(BigInt(a.id) - BigInt(b.id)))
  assert(byId.every(({ uploadedAt }, index) => index === 0 || uploadedAt >= (byId[index - 1]?.uploadedAt ?? 0)))
  assert(!byId.every(({ startAt }, index) => index === 0 || startAt >= (byId[index - 1]?.startAt ?? 0)))
})

test('the ids of a history of decades are positive and still grow with the upload', () => {
  const workouts = workoutsIn(made(9000))
  assert.equal(new Set(workouts.map(({ id }) => id)).size, 9000)
  const ids = workouts.toSorted((a, b) => a.uploadedAt - b.uploadedAt).map(({ id }) => Number(id))
  assert(ids.every((id, index) => id > (ids[index - 1] ?? 0)))
})

test('samples are believable in every second of every kind of session', () => {
  const seen = new Set<string>()
  for (const workout of workoutsIn(made(120))) {
    if (seen.has(workout.kind) || workout.isManual) continue
    seen.add(workout.kind)
    const { athlete } = workout
    const samples = recordingOf(workout)
    const fastest = workout.kind.includes('ride') ? 20 : 7
    for (const [index, time] of samples.time.entries()) {
      const [previous, beat] = [index - 1, samples.heartrate[index] ?? 0]
      assert(index === 0 || time > (samples.time[previous] ?? 0))
      assert(beat > 30 && beat <= athlete.maxBpm, `${workout.kind} beats ${beat}`)
      assert((samples.velocity[index] ?? 0) < fastest, `${workout.kind} moves at ${samples.velocity[index]}`)
      assert(index === 0 || (samples.distance[index] ?? 0) >= (samples.distance[previous] ?? 0))
      assert(Math.abs((samples.altitude[index] ?? 0) - athlete.home.altitudeM) < 400)
      assert(Math.abs(samples.grade[index] ?? 0) < 30)
    }
    if (workout.hasGps)
      assert(metresApart(samples.latlng[0], samples.latlng.at(-1)) < summaryOf(workout).distanceM / 4, 'the loop comes home')
  }
  assert.equal(seen.size, 10)
})

function metresApart([lat, lng]: readonly number[] = [], [otherLat, otherLng]: readonly number[] = []): number {
  const [north, east] = [(lat ?? 0) - (otherLat ?? 0), ((lng ?? 0) - (otherLng ?? 0)) * Math.cos(((lat ?? 0) * Math.PI) / 180)]
  return Math.hypot(north, east) * 111_320
}

test('intervals go up and down: the hard part beats faster than the easy one', () => {
  const workout =
    workoutsIn(made(120)).find(({ kind, isManual }) => kind === 'intervals' && !isManual) ?? assert.fail('no intervals')
  const { lapEnds, heartrate } = recordingOf(workout)
  const atEnds = lapEnds.map(index => heartrate[index] ?? 0)
  assert(lapEnds.length >= 10)
  for (let lap = 1; lap + 1 < atEnds.length; lap += 2) assert((atEnds[lap] ?? 0) < (atEnds[lap + 1] ?? 0) - 5)
})

test('some recordings have gaps where auto-pause cut a stop out', () => {
  const gapped = workoutsIn(made(60)).filter(
    workout => !workout.isManual && workout.hasGps && summaryOf(workout).elapsedS > recordingOf(workout).time.length,
  )
  assert(gapped.length > 3)
})

test('ninety nights, one a day, of a length a person sleeps', () => {
  const world = made(1)
  for (const vendor of ['oura', 'whoop', 'garmin'] as const) {
    const nights = [...world.nights[vendor].values()].filter(({ isNap }) => !isNap)
    assert.equal(nights.length, 90)
    assert.equal(new Set(nights.map(({ day }) => day)).size, 90)
    for (const night of nights) {
      assert(asleepSeconds(night) > 4.5 * 3600 && asleepSeconds(night) < 9.5 * 3600)
      assert(night.updatedAt <= NOW && night.score >= 35 && night.score <= 98)
    }
  }
})
