// Garmin's summaries: an activity, its details with samples, a night. The spelling of `Celcius` is the vendor's.
import { wireId } from '../answer.ts'
import { offsetSeconds } from '../world/local-time.ts'
import { asleepSeconds, STAGE_S, stageSeconds, type Night, type Stage as SleepStage } from '../world/nights.ts'
import { FORMS } from '../world/sessions.ts'
import { samplesOf, type Samples } from '../world/streams.ts'
import { summaryOf } from '../world/summaries.ts'
import type { Workout } from '../world/workouts.ts'

type Shape = Record<string, unknown>

const seconds = (at: number): number => Math.floor(at / 1000)

/** Garmin numbers the same session in its own way. */
export const garminId = (workout: Workout): string => String((BigInt(workout.id) % 100_000_000_000n) + 10_000_000_000n)

const TYPES: Readonly<Record<string, string>> = {
  Run: 'RUNNING',
  TrailRun: 'TRAIL_RUNNING',
  Ride: 'CYCLING',
  Swim: 'LAP_SWIMMING',
  WeightTraining: 'STRENGTH_TRAINING',
}

export function activityShape(workout: Workout): Shape {
  return {
    userId: workout.athlete.ids.garmin,
    summaryId: garminId(workout),
    activityId: wireId(garminId(workout)),
    ...activityFields(workout),
  }
}

function activityFields(workout: Workout): Shape {
  const summary = summaryOf(workout)
  const isRun = workout.sport.endsWith('Run')
  return {
    activityName: workout.name,
    activityType: workout.kind === 'treadmill' ? 'TREADMILL_RUNNING' : (TYPES[workout.sport] ?? 'OTHER'),
    startTimeInSeconds: seconds(workout.startAt),
    startTimeOffsetInSeconds: offsetSeconds(workout.athlete.place.zone, workout.startAt),
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

/** Nothing for what was typed in: there is nothing to show. */
export function detailsShape(workout: Workout): Shape | undefined {
  if (workout.isManual) return undefined
  const samples = samplesOf(workout)
  return {
    userId: workout.athlete.ids.garmin,
    summaryId: `${garminId(workout)}-detail`,
    activityId: wireId(garminId(workout)),
    summary: activityFields(workout),
    samples: samples.time.map((_, index) => sampleShape(workout, samples, index)),
    laps: [0, ...samples.lapEnds].map(index => ({ startTimeInSeconds: seconds(workout.startAt) + (samples.time[index] ?? 0) })),
  }
}

function sampleShape(workout: Workout, samples: Samples, index: number): Shape {
  const form = FORMS[workout.kind]
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
    ...(form.hasDistance
      ? { speedMetersPerSecond: samples.velocity[index], totalDistanceInMeters: samples.distance[index] }
      : {}),
    ...(workout.sport.endsWith('Run') ? { stepsPerMinute: (samples.cadence[index] ?? 0) * 2 } : {}),
    ...(form.hasPower ? { powerInWatts: samples.watts[index], bikeCadenceInRPM: samples.cadence[index] } : {}),
    ...(workout.kind === 'swim' ? { swimCadenceInStrokesPerMinute: samples.cadence[index] } : {}),
    timerDurationInSeconds: index,
    clockDurationInSeconds: timeS,
    movingDurationInSeconds: index,
  }
}

const qualifier = (score: number): string => (score >= 90 ? 'EXCELLENT' : score >= 75 ? 'GOOD' : score >= 60 ? 'FAIR' : 'POOR')

export function sleepShape(night: Night): Shape {
  const isFinal = night.state === 'SCORED'
  const grade = { qualifierKey: qualifier(night.score) }
  return {
    userId: night.athlete.ids.garmin,
    summaryId: `x${night.id.slice(0, 8)}-${seconds(night.startAt).toString(16)}`,
    calendarDate: night.day,
    startTimeInSeconds: seconds(night.startAt),
    startTimeOffsetInSeconds: offsetSeconds(night.athlete.place.zone, night.startAt),
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
function spansOf(night: Night, stage: SleepStage): Shape[] {
  const at = (index: number): number => seconds(night.startAt) + index * STAGE_S
  return night.stages.flatMap((one, index) => {
    if (one !== stage || night.stages[index - 1] === stage) return []
    const end = night.stages.findIndex((other, later) => later > index && other !== stage)
    return [{ startTimeInSeconds: at(index), endTimeInSeconds: at(end === -1 ? night.stages.length : end) }]
  })
}
