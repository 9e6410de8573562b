// How well intervals are found, on workouts whose truth is known: the simulator's, which has a plan for each, and rougher ones of
// our own. At least 95 of 100 are found with both edges within five seconds, at most 5 of 100 found ones are wrong, and steady
// workouts have next to none. The seeds are fixed, so the figures are the same in every run.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shapeOf } from '../../src/shape/shape.ts'
import { channelsOf, STREAM_KEYS } from '../../src/simulator/strava/streams.ts'
import type { WorkoutKind } from '../../src/simulator/world/workout-plans.ts'
import { World } from '../../src/simulator/world/world.ts'
import type { Workout as SimulatedWorkout } from '../../src/simulator/world/workouts.ts'
import { runs } from '../runs.ts'
import { scoreOf, total, type Score, type Timed } from './shape-score.ts'
import { intervalRide, intervalRun, progression, roadRide, steadyRun, type Workout } from './shape-workouts.ts'

const WORK_EFFORT = 0.8
const SWIM_EFFORT = 0.65

/** When each interval of the plan began and ended. */
function truthOf({ steps, kind }: SimulatedWorkout): Timed[] {
  let endS = 0
  return steps.flatMap(({ seconds, isLap, effort }) => {
    const startS = endS
    endS += seconds
    return isLap === true && effort >= (kind === 'swim' ? SWIM_EFFORT : WORK_EFFORT) ? [{ startS, endS }] : []
  })
}

const keys = new Set<string>(STREAM_KEYS)

const world = new World({ seed: 11, beginsAt: Date.UTC(2026, 9, 1), bigIds: false })
for (let athlete = 0; athlete < 5; athlete++) world.addAthlete({ activities: 200, nights: 0, broken: 0 })

function simulated(count: number, ...kinds: WorkoutKind[]): Workout[] {
  return [...world.workouts.values()]
    .filter(({ kind, isManual }) => kinds.includes(kind) && !isManual)
    .slice(0, count)
    .map(workout => ({
      name: `${workout.kind} ${workout.id}`,
      sport: workout.sport,
      channels: channelsOf(workout, keys) as unknown as Workout['channels'],
      truth: truthOf(workout),
    }))
}

const made = (count: number, seed: number, make: (seed: number) => Workout): Workout[] =>
  Array.from({ length: count }, (_, index) => make(seed + index))

const foundIn = ({ sport, channels }: Workout): Timed[] =>
  shapeOf({ sport, channels }).segments.filter(({ kind }) => kind === 'work')

const scored = (workouts: readonly Workout[]): Score => total(workouts.map(workout => scoreOf(workout.truth, foundIn(workout))))

function isFound(workouts: readonly Workout[], fewest: number, least = 0.95): void {
  const { truth, found, hits } = scored(workouts)
  const said = `${hits} of ${truth} found, ${found - hits} found in vain, in ${workouts.length} workouts`
  assert(workouts.length >= fewest && truth >= 3 * fewest, said)
  assert(hits / truth >= least, said)
  assert(hits / found >= 0.95, said)
}

function isSteady(workouts: readonly Workout[], most: number): void {
  const wrong = workouts.filter(workout => foundIn(workout).length > 0).map(({ name }) => name)
  const rate = wrong.length / workouts.length
  assert(rate <= most, `false positive rate ${rate.toFixed(3)} of ${workouts.length}: ${wrong.join(', ')}`)
}

test('a score counts an edge that is six seconds off as missed, and what nobody ran as found in vain', () => {
  const truth = [
    { startS: 100, endS: 200 },
    { startS: 300, endS: 400 },
  ]
  const found = [
    { startS: 105, endS: 195 },
    { startS: 306, endS: 400 },
    { startS: 500, endS: 600 },
  ]
  assert.deepEqual(scoreOf(truth, found), { truth: 2, found: 3, hits: 1 })
})

test("the simulator's track and tempo sessions are found", () => {
  isFound(simulated(runs(60, 130), 'intervals', 'tempo'), runs(60, 130))
})

test("the simulator's hill repeats are found, the doubtful ones among them by their likeness to the others", () => {
  isFound(simulated(60, 'hills'), 60, 0.97)
})

test("the simulator's lengths in the pool are found by their rests", () => {
  isFound(simulated(25, 'swim'), 25)
})

test('rough interval runs are found: by time and by distance, pyramids, strides, with jogged, walked and standing rests', () => {
  isFound(made(runs(100, 200), 20_000, intervalRun), runs(100, 200))
})

test('intervals by power are found', () => {
  isFound(made(runs(30, 60), 30_000, intervalRide), runs(30, 60))
})

test("what the simulator's athletes ran and rode steadily has no intervals", () => {
  isSteady(simulated(70, 'easy', 'long', 'treadmill', 'ride', 'long-ride'), 0.02)
})

test('steady runs have no intervals, flat or hilly, with red lights and pauses', () => {
  isSteady(
    [0, 0.03, 0.07].flatMap((climb, index) => made(runs(20, 40), 40_000 + 1000 * index, seed => steadyRun(seed, climb))),
    0.02,
  )
})

test('a run that gets faster and faster has no intervals', () => {
  isSteady(made(30, 50_000, progression), 0.04)
})

test('rides over hills have no intervals, with power or without', () => {
  isSteady(
    made(40, 60_000, seed => roadRide(seed, true)),
    0.03,
  )
  isSteady(
    made(40, 70_000, seed => roadRide(seed, false)),
    0.05,
  )
})

test('intervals are found by pace alone: without a heart rate they are the same', () => {
  for (const workout of made(20, 80_000, intervalRun)) {
    const { heartrate: _, ...channels } = workout.channels
    assert.deepEqual(
      foundIn({ ...workout, channels }).map(({ startS, endS }) => [startS, endS]),
      foundIn(workout).map(({ startS, endS }) => [startS, endS]),
    )
  }
})
