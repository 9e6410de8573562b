// Garmin's samples as channels, under the names and in the units that Strava's have. Pure. Times are absolute and irregular there, and
// count from the first sample here; a sensor that said nothing leaves a null, and one that never spoke no channel.
import type { GarminActivityDetails } from '../vendors/vendors.ts'
import { examined, type Examined } from './channels.ts'

type Sample = NonNullable<GarminActivityDetails['samples']>[number]

const place = ({ latitudeInDegree: latitude, longitudeInDegree: longitude }: Sample): readonly [number, number] | null =>
  latitude === undefined || latitude === null || longitude === undefined || longitude === null ? null : [latitude, longitude]

/** Strava counts one leg's steps. */
const cadence = ({ stepsPerMinute, bikeCadenceInRPM, swimCadenceInStrokesPerMinute }: Sample): number | null =>
  bikeCadenceInRPM ?? (typeof stepsPerMinute === 'number' ? stepsPerMinute / 2 : (swimCadenceInStrokesPerMinute ?? null))

const READ: Readonly<Record<string, (sample: Sample) => unknown>> = {
  distance: sample => sample.totalDistanceInMeters ?? null,
  latlng: place,
  altitude: sample => sample.elevationInMeters ?? null,
  velocity_smooth: sample => sample.speedMetersPerSecond ?? null,
  heartrate: sample => sample.heartRate ?? null,
  cadence,
  watts: sample => sample.powerInWatts ?? null,
  temp: sample => sample.airTemperatureCelcius ?? null,
}

export function garminChannels({ samples }: Pick<GarminActivityDetails, 'samples'>): Examined {
  const ordered = (samples ?? []).toSorted((one, other) => one.startTimeInSeconds - other.startTimeInSeconds)
  const first = ordered[0]?.startTimeInSeconds ?? 0
  const spoken = Object.entries(READ)
    .map(([name, read]) => [name, ordered.map(read)] as const)
    .filter(([, values]) => values.some(value => value !== null))
  return examined({ time: ordered.map(sample => sample.startTimeInSeconds - first), ...Object.fromEntries(spoken) })
}
