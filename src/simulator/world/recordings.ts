// What the watch recorded, second by second, made anew from (seed, activity) whenever somebody asks and never kept for long.
// Speed follows the pieces with a little wandering and the slope; the heart follows the effort with a lag and drifts up with the
// hours; the route is a loop that comes home. Auto-pause leaves gaps in `time`, so samples are not evenly spaced.
import type { Random } from '../../kernel/random.ts'
import type { Athlete } from './athletes.ts'
import { bell, chance, range, round } from './chance.ts'
import { FORMS, type Piece } from './sessions.ts'
import { totalsOf, type Workout } from './workouts.ts'

export interface Samples {
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

function terrainOf(athlete: Athlete, dice: Random): Terrain {
  const wave = (metres: number, heightM: number): Terrain['waves'][number] => ({ metres, heightM, phase: range(dice, 0, 6.28) })
  return {
    baseM: athlete.place.altitudeM,
    waves: [wave(range(dice, 3000, 6000), range(dice, 6, 22)), wave(range(dice, 500, 1100), range(dice, 1, 4))],
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

/** Everything that changes from one second to the next. */
interface Runner {
  metres: number
  speedMps: number
  bpm: number
  climbedM: number
  wander: number
  north: number
  east: number
}

export function samplesOf(workout: Workout): Samples {
  const { athlete } = workout
  const dice = chance(athlete.seed, 'samples', workout.startAt, workout.kind, workout.device)
  const track: Track = {
    workout,
    dice,
    terrain: terrainOf(athlete, dice),
    totalM: Math.max(1, totalsOf(workout.pieces).distanceM),
    turn: range(dice, 0, 6.28),
    warmC: Math.round(range(dice, 4, 24)),
    hasPower: FORMS[workout.kind].hasPower,
    metresPerDegreeEast: DEGREE_M * Math.cos((athlete.place.lat * Math.PI) / 180),
  }
  const runner: Runner = { metres: 0, speedMps: 0, bpm: athlete.restBpm + 28, climbedM: 0, wander: 0, north: 0, east: 0 }
  const samples = emptySamples()
  let clockS = 0
  for (const piece of workout.pieces) {
    // A pool swimmer's or lifter's rest is part of the session; a stop on the road is cut out.
    const isPause = piece.speedMps === 0 && track.workout.hasGps && piece.seconds >= AUTO_PAUSE_S
    for (let second = 0; second < (isPause ? 1 : piece.seconds); second++) record(samples, track, runner, piece, clockS + second)
    clockS += piece.seconds
    if (piece.isLap === true) samples.lapEnds.push(samples.time.length - 1)
  }
  return samples
}

interface Track {
  readonly workout: Workout
  readonly dice: Random
  readonly terrain: Terrain
  readonly totalM: number
  readonly turn: number
  readonly warmC: number
  readonly hasPower: boolean
  readonly metresPerDegreeEast: number
}

const emptySamples = (): Samples => ({
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

// oxlint-disable-next-line max-params -- one second of one piece; a bag of five would be made 3,600 times an hour
function record(samples: Samples, track: Track, runner: Runner, piece: Piece, timeS: number): void {
  const slope = stride(track, runner, piece)
  beat(track, runner, piece, timeS)
  const isMoving = runner.speedMps > 0.3
  samples.time.push(timeS)
  samples.moving.push(isMoving || !FORMS[track.workout.kind].hasDistance)
  samples.distance.push(round(runner.metres, 1))
  samples.velocity.push(round(isMoving ? runner.speedMps : 0, 3))
  samples.heartrate.push(Math.round(runner.bpm))
  samples.cadence.push(isMoving ? Math.round(FORMS[track.workout.kind].cadence + runner.wander * 8) : 0)
  samples.watts.push(wattsOf(track, runner, piece))
  samples.temp.push(track.warmC + Math.round(timeS / 3600))
  samples.altitude.push(round(heightAt(track.terrain, runner.metres) + runner.climbedM, 1))
  samples.grade.push(round(slope * 100, 1))
  samples.latlng.push(placeOf(track, runner))
}

/** Moves by one second; answers the slope. */
function stride(track: Track, runner: Runner, piece: Piece): number {
  const rise = slopeAt(track.terrain, runner.metres) + (piece.slope ?? 0)
  runner.wander = runner.wander * 0.97 + bell(track.dice) * 0.012
  const wanted = piece.speedMps * (1 + runner.wander) * Math.max(0.5, 1 - rise * 1.6)
  runner.speedMps = piece.speedMps === 0 ? runner.speedMps * 0.4 : runner.speedMps + (wanted - runner.speedMps) * 0.35
  if (runner.speedMps < 0.05) runner.speedMps = 0
  runner.metres += runner.speedMps
  runner.climbedM += (piece.slope ?? 0) * runner.speedMps
  const heading = track.turn + (runner.metres / track.totalM) * 2 * Math.PI + 0.5 * Math.sin(runner.metres / 240)
  runner.north += Math.cos(heading) * runner.speedMps
  runner.east += Math.sin(heading) * runner.speedMps
  return rise
}

/** The heart needs about half a minute to follow, and beats faster for the same work as the hours pass. */
function beat(track: Track, runner: Runner, piece: Piece, timeS: number): void {
  const { restBpm, maxBpm } = track.workout.athlete
  const drift = 1 + Math.min(0.08, timeS / 3600 / 22)
  const target = restBpm + (maxBpm - restBpm) * Math.min(1, piece.effort * drift)
  runner.bpm = Math.min(maxBpm, runner.bpm + (target - runner.bpm) / 28 + bell(track.dice) * 0.35)
}

function wattsOf(track: Track, runner: Runner, piece: Piece): number {
  if (runner.speedMps < 0.3 || !track.hasPower) return 0
  return Math.max(0, Math.round(track.workout.athlete.ftpWatts * piece.effort * (1.05 + runner.wander) + bell(track.dice) * 12))
}

function placeOf(track: Track, runner: Runner): [number, number] {
  const { lat, lng } = track.workout.athlete.place
  if (!track.workout.hasGps) return NOWHERE
  const north = (runner.north + bell(track.dice) * 0.8) / DEGREE_M
  const east = (runner.east + bell(track.dice) * 0.8) / track.metresPerDegreeEast
  return [round(lat + north, 6), round(lng + east, 6)]
}
