// What the watch recorded, second by second. A recording is generated from the athlete's seed and the workout each time somebody
// asks, and not kept. Speed follows the steps of the plan with noise and slope; the heart rate follows the effort with a delay
// and drifts up over the hours; the route is a loop. Auto-pause leaves gaps in `time`, so samples are not evenly spaced.
import type { Random } from '../../kernel/random.ts'
import type { Athlete } from './athletes.ts'
import { keyedRandom, noise, range, round } from './keyed-random.ts'
import { WORKOUT_TRAITS, type Step } from './workout-plans.ts'
import { totalsOf, type Workout } from './workouts.ts'

export interface Recording {
  readonly time: number[]
  readonly moving: boolean[]
  readonly distance: number[]
  readonly velocity: number[]
  readonly heartrate: number[]
  readonly cadence: number[]
  readonly watts: number[]
  readonly temp: number[]
  readonly altitude: number[]
  readonly grade: number[]
  readonly latlng: [number, number][]
  /** Sample indices at which the lap button was pressed. */
  readonly lapEnds: number[]
}

/** Metres in a degree of latitude. */
const DEGREE_M = 111_320
const NOWHERE: [number, number] = [0, 0]
/** A stop longer than this is left out of the recording, as auto-pause does. */
const AUTO_PAUSE_S = 30

interface Terrain {
  readonly baseM: number
  readonly waves: readonly { readonly metres: number; readonly heightM: number; readonly phase: number }[]
}

function terrainOf(athlete: Athlete, random: Random): Terrain {
  const wave = (metres: number, heightM: number): Terrain['waves'][number] => ({ metres, heightM, phase: range(random, 0, 6.28) })
  return {
    baseM: athlete.home.altitudeM,
    waves: [wave(range(random, 3000, 6000), range(random, 6, 22)), wave(range(random, 500, 1100), range(random, 1, 4))],
  }
}

const heightAt = (terrain: Terrain, metres: number): number =>
  terrain.waves.reduce(
    (sum, wave) => sum + wave.heightM * Math.sin((metres / wave.metres) * 2 * Math.PI + wave.phase),
    terrain.baseM,
  )

const slopeAt = ({ waves }: Terrain, metres: number): number =>
  waves.reduce((sum, { metres: length, heightM, phase }) => {
    const turns = (2 * Math.PI) / length
    return sum + heightM * turns * Math.cos(metres * turns + phase)
  }, 0)

/** What changes from one second to the next. */
interface RecordingState {
  metres: number
  speedMps: number
  bpm: number
  climbedM: number
  wander: number
  north: number
  east: number
}

export function recordingOf(workout: Workout): Recording {
  const { athlete } = workout
  const random = keyedRandom(athlete.seed, 'samples', workout.startAt, workout.kind, workout.device)
  const setup: RecordingSetup = {
    workout,
    random,
    terrain: terrainOf(athlete, random),
    totalM: Math.max(1, totalsOf(workout.steps).distanceM),
    startHeading: range(random, 0, 6.28),
    startTempC: Math.round(range(random, 4, 24)),
    hasPower: WORKOUT_TRAITS[workout.kind].hasPower,
    metresPerDegreeEast: DEGREE_M * Math.cos((athlete.home.lat * Math.PI) / 180),
  }
  const state: RecordingState = { metres: 0, speedMps: 0, bpm: athlete.restBpm + 28, climbedM: 0, wander: 0, north: 0, east: 0 }
  const samples = emptyRecording()
  let clockS = 0
  for (const step of workout.steps) {
    // A rest in the pool or gym is part of the recording; a stop on the road is cut out.
    const isPause = step.speedMps === 0 && setup.workout.hasGps && step.seconds >= AUTO_PAUSE_S
    for (let second = 0; second < (isPause ? 1 : step.seconds); second++) record(samples, setup, state, step, clockS + second)
    clockS += step.seconds
    if (step.isLap === true) samples.lapEnds.push(samples.time.length - 1)
  }
  return samples
}

interface RecordingSetup {
  readonly workout: Workout
  readonly random: Random
  readonly terrain: Terrain
  readonly totalM: number
  readonly startHeading: number
  readonly startTempC: number
  readonly hasPower: boolean
  readonly metresPerDegreeEast: number
}

const emptyRecording = (): Recording => ({
  time: [],
  moving: [],
  distance: [],
  velocity: [],
  heartrate: [],
  cadence: [],
  watts: [],
  temp: [],
  altitude: [],
  grade: [],
  latlng: [],
  lapEnds: [],
})

// oxlint-disable-next-line max-params -- one second of one step; an object for the five would be made 3,600 times an hour
function record(samples: Recording, setup: RecordingSetup, state: RecordingState, step: Step, timeS: number): void {
  const slope = moveOneSecond(setup, state, step)
  updateHeartRate(setup, state, step, timeS)
  const isMoving = state.speedMps > 0.3
  samples.time.push(timeS)
  samples.moving.push(isMoving || !WORKOUT_TRAITS[setup.workout.kind].hasDistance)
  samples.distance.push(round(state.metres, 1))
  samples.velocity.push(round(isMoving ? state.speedMps : 0, 3))
  samples.heartrate.push(Math.round(state.bpm))
  samples.cadence.push(isMoving ? Math.round(WORKOUT_TRAITS[setup.workout.kind].cadence + state.wander * 8) : 0)
  samples.watts.push(wattsOf(setup, state, step))
  samples.temp.push(setup.startTempC + Math.round(timeS / 3600))
  samples.altitude.push(round(heightAt(setup.terrain, state.metres) + state.climbedM, 1))
  samples.grade.push(round(slope * 100, 1))
  samples.latlng.push(positionOf(setup, state))
}

/** Returns the slope. */
function moveOneSecond(setup: RecordingSetup, state: RecordingState, step: Step): number {
  const rise = slopeAt(setup.terrain, state.metres) + (step.slope ?? 0)
  state.wander = state.wander * 0.97 + noise(setup.random) * 0.012
  const wanted = step.speedMps * (1 + state.wander) * Math.max(0.5, 1 - rise * 1.6)
  state.speedMps = step.speedMps === 0 ? state.speedMps * 0.4 : state.speedMps + (wanted - state.speedMps) * 0.35
  if (state.speedMps < 0.05) state.speedMps = 0
  state.metres += state.speedMps
  state.climbedM += (step.slope ?? 0) * state.speedMps
  const heading = setup.startHeading + (state.metres / setup.totalM) * 2 * Math.PI + 0.5 * Math.sin(state.metres / 240)
  state.north += Math.cos(heading) * state.speedMps
  state.east += Math.sin(heading) * state.speedMps
  return rise
}

/** The heart rate follows the effort within about half a minute, and rises over the hours for the same effort. */
function updateHeartRate(setup: RecordingSetup, state: RecordingState, step: Step, timeS: number): void {
  const { restBpm, maxBpm } = setup.workout.athlete
  const drift = 1 + Math.min(0.08, timeS / 3600 / 22)
  const target = restBpm + (maxBpm - restBpm) * Math.min(1, step.effort * drift)
  state.bpm = Math.min(maxBpm, state.bpm + (target - state.bpm) / 28 + noise(setup.random) * 0.35)
}

function wattsOf(setup: RecordingSetup, state: RecordingState, step: Step): number {
  if (state.speedMps < 0.3 || !setup.hasPower) return 0
  return Math.max(0, Math.round(setup.workout.athlete.ftpWatts * step.effort * (1.05 + state.wander) + noise(setup.random) * 12))
}

function positionOf(setup: RecordingSetup, state: RecordingState): [number, number] {
  const { lat, lng } = setup.workout.athlete.home
  if (!setup.workout.hasGps) return NOWHERE
  const north = (state.north + noise(setup.random) * 0.8) / DEGREE_M
  const east = (state.east + noise(setup.random) * 0.8) / setup.metresPerDegreeEast
  return [round(lat + north, 6), round(lng + east, 6)]
}
