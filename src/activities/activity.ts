// An activity as other rooms see it, whichever vendor delivered it.
import type { StravaLap } from '../vendors/vendors.ts'
import { instant } from './storable.ts'
import type { StreamStatus } from './stream-lifecycle.ts'

export interface Activity {
  readonly id: string
  /** `manual` for an activity entered by hand. */
  readonly vendor: string
  readonly externalId: string | null
  readonly name: string
  readonly sport: string
  readonly start: Date
  readonly timezone: string | null
  readonly elapsedSeconds: number | null
  readonly movingSeconds: number | null
  readonly distanceMeters: number | null
  readonly manual: boolean
  readonly detailed: boolean
  readonly streams: StreamStatus
}

interface Lap {
  readonly name: string | null
  /** ISO, UTC. */
  readonly start: string | null
  readonly elapsedSeconds: number | null
  readonly movingSeconds: number | null
  readonly distanceMeters: number | null
  readonly elevationGainMeters: number | null
  readonly averageSpeedMps: number | null
  readonly averageHeartrateBpm: number | null
  readonly averageWatts: number | null
  /** The first and last sample of the lap in the streams. */
  readonly startIndex: number | null
  readonly endIndex: number | null
}

export interface Photo {
  readonly id: string
  readonly caption: string | null
  /** By size in pixels. */
  readonly urls: Readonly<Record<string, string>>
  readonly takenAt: Date | null
  readonly location: readonly [latitude: number, longitude: number] | null
}

export interface ReadActivity extends Activity {
  readonly description: string | null
  readonly laps: readonly Lap[]
  readonly photos: readonly Photo[]
}

export interface ManualEntry {
  readonly sport: string
  readonly name: string
  readonly start: Date
  readonly elapsedSeconds: number
  readonly distanceMeters?: number | undefined
}

export interface Checkin {
  readonly id: string
  readonly vendor: string
  readonly externalId: string
  readonly at: Date
  readonly venue: Readonly<Record<string, unknown>> | null
  readonly shout: string | null
  readonly timezoneOffsetMinutes: number | null
}

export const lapOf = (lap: StravaLap): Lap => ({
  name: lap.name ?? null,
  start: lap.start_date ? instant(Date.parse(lap.start_date)) : null,
  elapsedSeconds: lap.elapsed_time ?? null,
  movingSeconds: lap.moving_time ?? null,
  distanceMeters: lap.distance ?? null,
  elevationGainMeters: lap.total_elevation_gain ?? null,
  averageSpeedMps: lap.average_speed ?? null,
  averageHeartrateBpm: lap.average_heartrate ?? null,
  averageWatts: lap.average_watts ?? null,
  startIndex: lap.start_index ?? null,
  endIndex: lap.end_index ?? null,
})
