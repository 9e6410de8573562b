// Garmin's summaries, under Garmin's names (its spelling of Celsius too). Anything but the ids and the start may be missing,
// and grows as the watch syncs on: the same `summaryId` comes again and replaces what was there.
import { z } from 'zod'
import { day, decimal, flag, id, listOf, optional, text, whole } from '../shapes.ts'

const activityFields = {
  activityId: optional(id),
  activityName: optional(text),
  activityType: optional(text),
  startTimeInSeconds: whole,
  startTimeOffsetInSeconds: optional(whole),
  durationInSeconds: optional(whole),
  distanceInMeters: optional(decimal),
  averageHeartRateInBeatsPerMinute: optional(decimal),
  maxHeartRateInBeatsPerMinute: optional(decimal),
  averageSpeedInMetersPerSecond: optional(decimal),
  averageRunCadenceInStepsPerMinute: optional(decimal),
  activeKilocalories: optional(decimal),
  deviceName: optional(text),
  startingLatitudeInDegree: optional(decimal),
  startingLongitudeInDegree: optional(decimal),
  steps: optional(whole),
  totalElevationGainInMeters: optional(decimal),
  totalElevationLossInMeters: optional(decimal),
  manual: optional(flag),
  isWebUpload: optional(flag),
  isParent: optional(flag),
  parentSummaryId: optional(id),
}

export const activity = z.object({ userId: id, summaryId: id, ...activityFields })

/** A day has 86,400 seconds, and what lasts longer comes as a file only. */
const SAMPLES_MAX = 100_000

/** Absolute and irregular times; a sensor that said nothing leaves its field out. */
const sample = z.object({
  startTimeInSeconds: whole,
  latitudeInDegree: optional(decimal),
  longitudeInDegree: optional(decimal),
  elevationInMeters: optional(decimal),
  airTemperatureCelcius: optional(decimal),
  heartRate: optional(decimal),
  speedMetersPerSecond: optional(decimal),
  stepsPerMinute: optional(decimal),
  totalDistanceInMeters: optional(decimal),
  powerInWatts: optional(decimal),
  bikeCadenceInRPM: optional(decimal),
  swimCadenceInStrokesPerMinute: optional(decimal),
  timerDurationInSeconds: optional(decimal),
  clockDurationInSeconds: optional(decimal),
  movingDurationInSeconds: optional(decimal),
})

export const activityDetails = z.object({
  userId: id,
  summaryId: id,
  activityId: optional(id),
  summary: z.object(activityFields),
  samples: listOf(sample, SAMPLES_MAX).nullish(),
  laps: optional(z.array(z.object({ startTimeInSeconds: whole }))),
})

const stretch = z.object({ startTimeInSeconds: whole, endTimeInSeconds: whole })

const nap = z.object({
  napStartTimeInSeconds: whole,
  napOffsetInSeconds: optional(whole),
  napDurationInSeconds: optional(whole),
  napValidation: optional(text),
})

/** `durationInSeconds` is without the time awake. Older senders name the unmeasured time otherwise and write "Device". */
export const sleep = z
  .object({
    userId: id,
    summaryId: id,
    calendarDate: day,
    startTimeInSeconds: whole,
    startTimeOffsetInSeconds: optional(whole),
    durationInSeconds: whole,
    unmeasurableSleepInSeconds: optional(whole),
    unmeasurableSleepDurationInSeconds: optional(whole),
    deepSleepDurationInSeconds: optional(whole),
    lightSleepDurationInSeconds: optional(whole),
    remSleepInSeconds: optional(whole),
    awakeDurationInSeconds: optional(whole),
    sleepLevelsMap: optional(z.record(text, z.array(stretch))),
    validation: optional(text.transform(written => written.toUpperCase())),
    overallSleepScore: optional(z.object({ value: optional(decimal), qualifierKey: optional(text) })),
    totalNapDurationInSeconds: optional(whole),
    naps: optional(z.array(nap)),
  })
  .transform(({ unmeasurableSleepDurationInSeconds: older, ...rest }) =>
    rest.unmeasurableSleepInSeconds === undefined && older !== undefined ? { ...rest, unmeasurableSleepInSeconds: older } : rest,
  )

export type GarminActivity = z.infer<typeof activity>
export type GarminActivityDetails = z.infer<typeof activityDetails>
export type GarminSleep = z.infer<typeof sleep>

/** What Garmin may still replace is not the last word on a night. */
export const isTentative = ({ validation }: GarminSleep): boolean => validation?.endsWith('_TENTATIVE') ?? false
