// Garmin's payloads: an activity, its details with samples, a night. The spelling of `Celcius` is Garmin's.
import { jsonNumber } from '../answer.ts'
import { offsetSeconds } from '../world/local-time.ts'
import { asleepSeconds, SLEEP_STAGE_S, stageSeconds, type Night, type SleepStage } from '../world/nights.ts'
import { recordingOf, type Recording } from '../world/recordings.ts'
import { summaryOf } from '../world/summaries.ts'
import { WORKOUT_TRAITS } from '../world/workout-plans.ts'
import type { Workout } from '../world/workouts.ts'

type Payload = Record<string, unknown>

const seconds = (at: number): number => Math.floor(at / 1000)

/** Garmin gives the same workout an id of its own. */
const garminId = (workout: Workout): string => String((BigInt(workout.id) % 100_000_000_000n) + 10_000_000_000n)

const TYPES: Readonly<Record<string, string>> = {
  Run: 'RUNNING',
  TrailRun: 'TRAIL_RUNNING',
  Ride: 'CYCLING',
  Swim: 'LAP_SWIMMING',
  WeightTraining: 'STRENGTH_TRAINING',
}

export function activityPayload(workout: Workout): Payload {
  return {
    userId: workout.athlete.ids.garmin,
    summaryId: garminId(workout),
    activityId: jsonNumber(garminId(workout)),
    ...activityFields(workout),
  }
}

function activityFields(workout: Workout): Payload {
  const summary = summaryOf(workout)
  const isRun = workout.sport.endsWith('Run')
  return {
    activityName: workout.name,
    activityType: workout.kind === 'treadmill' ? 'TREADMILL_RUNNING' : (TYPES[workout.sport] ?? 'OTHER'),
    startTimeInSeconds: seconds(workout.startAt),
    startTimeOffsetInSeconds: offsetSeconds(workout.athlete.home.zone, workout.startAt),
    durationInSeconds: summary.movingS,
    distanceInMeters: summary.distanceM,
    ...(summary.averageBpm === undefined
      ? {}
      : { averageHeartRateInBeatsPerMinute: Math.round(summary.averageBpm), maxHeartRateInBeatsPerMinute: summary.maxBpm }),
    averageSpeedInMetersPerSecond: summary.averageMps,
    ...(summary.averageMps > 0 ? { averagePaceInMinutesPerKilometer: Number((1000 / 60 / summary.averageMps).toFixed(6)) } : {}),
    ...(isRun && summary.cadence !== undefined
      ? {
          averageRunCadenceInStepsPerMinute: summary.cadence * 2,
          steps: Math.round((summary.cadence * 2 * summary.movingS) / 60),
        }
      : {}),
    activeKilocalories: Math.round((summary.movingS / 3600) * workout.athlete.weightKg * 9.5),
    deviceName: workout.device.replace('Garmin ', '').toLowerCase().replaceAll(' ', ''),
    ...(summary.start === undefined
      ? {}
      : { startingLatitudeInDegree: summary.start[0], startingLongitudeInDegree: summary.start[1] }),
    ...(workout.hasGps ? { totalElevationGainInMeters: summary.climbM, totalElevationLossInMeters: summary.climbM } : {}),
    manual: workout.isManual,
    isWebUpload: false,
    isParent: false,
    parentSummaryId: null,
  }
}

/** Undefined for a manual activity, which has no samples. */
export function detailsPayload(workout: Workout): Payload | undefined {
  if (workout.isManual) return undefined
  const samples = recordingOf(workout)
  return {
    userId: workout.athlete.ids.garmin,
    summaryId: `${garminId(workout)}-detail`,
    activityId: jsonNumber(garminId(workout)),
    summary: activityFields(workout),
    samples: samples.time.map((_, index) => samplePayload(workout, samples, index)),
    laps: [0, ...samples.lapEnds].map(index => ({ startTimeInSeconds: seconds(workout.startAt) + (samples.time[index] ?? 0) })),
  }
}

function samplePayload(workout: Workout, samples: Recording, index: number): Payload {
  const traits = WORKOUT_TRAITS[workout.kind]
  const [lat, lng] = samples.latlng[index] ?? [0, 0]
  const timeS = samples.time[index] ?? 0
  return {
    startTimeInSeconds: seconds(workout.startAt) + timeS,
    ...(workout.hasGps
      ? {
          latitudeInDegree: lat,
          longitudeInDegree: lng,
          elevationInMeters: samples.altitude[index],
          airTemperatureCelcius: samples.temp[index],
        }
      : {}),
    heartRate: samples.heartrate[index],
    ...(traits.hasDistance
      ? { speedMetersPerSecond: samples.velocity[index], totalDistanceInMeters: samples.distance[index] }
      : {}),
    ...(workout.sport.endsWith('Run') ? { stepsPerMinute: (samples.cadence[index] ?? 0) * 2 } : {}),
    ...(traits.hasPower ? { powerInWatts: samples.watts[index], bikeCadenceInRPM: samples.cadence[index] } : {}),
    ...(workout.kind === 'swim' ? { swimCadenceInStrokesPerMinute: samples.cadence[index] } : {}),
    timerDurationInSeconds: index,
    clockDurationInSeconds: timeS,
    movingDurationInSeconds: index,
  }
}

const qualifier = (score: number): string => (score >= 90 ? 'EXCELLENT' : score >= 75 ? 'GOOD' : score >= 60 ? 'FAIR' : 'POOR')

export function sleepPayload(night: Night): Payload {
  const isFinal = night.state === 'SCORED'
  const grade = { qualifierKey: qualifier(night.score) }
  return {
    userId: night.athlete.ids.garmin,
    summaryId: `x${night.id.slice(0, 8)}-${seconds(night.startAt).toString(16)}`,
    calendarDate: night.day,
    startTimeInSeconds: seconds(night.startAt),
    startTimeOffsetInSeconds: offsetSeconds(night.athlete.home.zone, night.startAt),
    durationInSeconds: asleepSeconds(night),
    unmeasurableSleepInSeconds: 0,
    deepSleepDurationInSeconds: stageSeconds(night, 'deep'),
    lightSleepDurationInSeconds: stageSeconds(night, 'light'),
    remSleepInSeconds: stageSeconds(night, 'rem'),
    awakeDurationInSeconds: stageSeconds(night, 'awake'),
    sleepLevelsMap: Object.fromEntries((['deep', 'light', 'rem', 'awake'] as const).map(stage => [stage, spansOf(night, stage)])),
    validation: isFinal ? 'ENHANCED_FINAL' : 'ENHANCED_TENTATIVE',
    timeOffsetSleepRespiration: { '60': Number(night.breath.toFixed(2)) },
    timeOffsetSleepSpo2: { '0': 95 },
    ...(isFinal
      ? {
          overallSleepScore: { value: night.score, ...grade },
          sleepScores: {
            totalDuration: grade,
            stress: grade,
            awakeCount: grade,
            remPercentage: grade,
            restlessness: grade,
            lightPercentage: grade,
            deepPercentage: grade,
          },
        }
      : {}),
  }
}

/** Runs of the same stage, as absolute seconds. */
function spansOf(night: Night, stage: SleepStage): Payload[] {
  const at = (index: number): number => seconds(night.startAt) + index * SLEEP_STAGE_S
  return night.stages.flatMap((one, index) => {
    if (one !== stage || night.stages[index - 1] === stage) return []
    const end = night.stages.findIndex((other, later) => later > index && other !== stage)
    return [{ startTimeInSeconds: at(index), endTimeInSeconds: at(end === -1 ? night.stages.length : end) }]
  })
}
