// Strava's payloads of an athlete and an activity. Fields without data are mostly absent, missing coordinates are `[]`, local
// time is written with a Z. Real answers carry more fields than the documents say, and so do these.
import { jsonNumber } from '../answer.ts'
import type { Athlete } from '../world/athletes.ts'
import { hexOf, keyedRandom, uuidOf } from '../world/keyed-random.ts'
import { isoSeconds, offsetSeconds } from '../world/local-time.ts'
import { summaryOf, type Summary } from '../world/summaries.ts'
import { WORKOUT_TRAITS } from '../world/workout-plans.ts'
import type { Workout } from '../world/workouts.ts'

type Payload = Record<string, unknown>

export const metaAthlete = (athlete: Athlete): Payload => ({ id: jsonNumber(athlete.ids.strava), resource_state: 1 })

export function summaryAthlete(athlete: Athlete): Payload {
  return {
    id: jsonNumber(athlete.ids.strava),
    username: `${athlete.firstName}_${athlete.lastName}`.toLowerCase(),
    resource_state: 2,
    firstname: athlete.firstName,
    lastname: athlete.lastName,
    bio: null,
    city: athlete.home.city,
    state: athlete.home.state,
    country: athlete.home.country,
    sex: athlete.sex,
    premium: true,
    summit: true,
    created_at: '2016-03-01T08:00:00Z',
    updated_at: '2026-01-01T08:00:00Z',
    badge_type_id: 1,
    weight: athlete.weightKg,
    profile_medium: 'avatar/athlete/medium.png',
    profile: 'avatar/athlete/large.png',
    friend: null,
    follower: null,
  }
}

export const detailedAthlete = (athlete: Athlete): Payload => ({
  ...summaryAthlete(athlete),
  resource_state: 3,
  follower_count: 12,
  friend_count: 15,
  measurement_preference: athlete.home.cc === 'US' ? 'feet' : 'meters',
  ftp: athlete.ftpWatts,
  clubs: [],
  bikes: [],
  shoes: [],
})

export const visibilityOf = (workout: Workout): string => (workout.isPrivate ? 'only_me' : 'everyone')

/** Strava's older field, with fewer sports. */
const typeOf = (sport: string): string =>
  sport === 'TrailRun' ? 'Run' : ['MountainBikeRide', 'GravelRide'].includes(sport) ? 'Ride' : sport

export function summaryActivity(workout: Workout): Payload {
  const summary = summaryOf(workout)
  const uploadId = String(BigInt(workout.id) + 700_000_000n)
  return {
    resource_state: 2,
    athlete: metaAthlete(workout.athlete),
    name: workout.name,
    distance: summary.distanceM,
    moving_time: summary.movingS,
    elapsed_time: summary.elapsedS,
    total_elevation_gain: summary.climbM,
    type: typeOf(workout.sport),
    sport_type: workout.sport,
    ...(workout.sport === 'Run' ? { workout_type: workout.kind === 'long' ? 2 : workout.kind === 'intervals' ? 3 : 0 } : {}),
    id: jsonNumber(workout.id),
    ...timesOf(workout),
    location_city: null,
    location_state: null,
    location_country: workout.athlete.home.country,
    achievement_count: 0,
    kudos_count: 3,
    comment_count: 0,
    athlete_count: 1,
    photo_count: 0,
    map: { id: `a${workout.id}`, summary_polyline: summary.line, resource_state: 2 },
    trainer: workout.isTrainer,
    commute: workout.isCommute,
    manual: workout.isManual,
    private: workout.isPrivate,
    visibility: visibilityOf(workout),
    flagged: false,
    gear_id: workout.gearId ?? null,
    start_latlng: summary.start ?? [],
    end_latlng: summary.end ?? [],
    average_speed: summary.averageMps,
    max_speed: summary.maxMps,
    ...sensorsOf(workout, summary),
    heartrate_opt_out: false,
    display_hide_heartrate_option: summary.averageBpm !== undefined,
    upload_id: workout.isManual ? null : jsonNumber(uploadId),
    ...(workout.isManual ? {} : { upload_id_str: uploadId }),
    external_id: workout.isManual ? null : `garmin_ping_${workout.id}`,
    from_accepted_tag: false,
    pr_count: 0,
    total_photo_count: workout.photos,
    has_kudoed: false,
  }
}

function timesOf({ startAt, athlete }: Workout): Payload {
  const offset = offsetSeconds(athlete.home.zone, startAt)
  return {
    start_date: isoSeconds(startAt),
    start_date_local: isoSeconds(startAt + offset * 1000),
    timezone: athlete.home.stravaZone,
    utc_offset: Number(offset.toFixed(1)),
  }
}

function sensorsOf(workout: Workout, summary: Summary): Payload {
  const hasHeart = summary.averageBpm !== undefined
  return {
    has_heartrate: hasHeart,
    ...(hasHeart
      ? { average_heartrate: summary.averageBpm, max_heartrate: summary.maxBpm, suffer_score: Math.round(summary.movingS / 90) }
      : {}),
    ...(summary.cadence === undefined ? {} : { average_cadence: summary.cadence }),
    ...(summary.temp === undefined ? {} : { average_temp: summary.temp }),
    ...(summary.highM === undefined ? {} : { elev_high: summary.highM, elev_low: summary.lowM }),
    ...(WORKOUT_TRAITS[workout.kind].hasPower && summary.watts !== undefined
      ? {
          average_watts: summary.watts,
          max_watts: summary.maxWatts,
          device_watts: true,
          kilojoules: Math.round((summary.watts * summary.movingS) / 1000),
        }
      : {}),
  }
}

export interface PhotoView {
  readonly size: string
  readonly publicUrl: string
}

export const photoIds = (workout: Workout): string[] =>
  Array.from({ length: workout.photos }, (_, index) =>
    uuidOf(keyedRandom(workout.athlete.seed, 'photo', workout.id, index)).toUpperCase(),
  )

export const photoUrl = (view: PhotoView, photo: string): string => `${view.publicUrl}/strava/photos/${photo}-${view.size}.png`

export const photosOf = (workout: Workout, view: PhotoView): Payload[] =>
  photoIds(workout).map((unique, index) => {
    const takenAt = workout.startAt + (index + 1) * 600_000
    const { start } = summaryOf(workout)
    return {
      unique_id: unique,
      athlete_id: jsonNumber(workout.athlete.ids.strava),
      activity_id: jsonNumber(workout.id),
      activity_name: workout.name,
      post_id: null,
      resource_state: 2,
      caption: '',
      type: 1,
      source: 1,
      status: 3,
      uploaded_at: isoSeconds(workout.uploadedAt),
      created_at: isoSeconds(takenAt),
      created_at_local: isoSeconds(takenAt + offsetSeconds(workout.athlete.home.zone, takenAt) * 1000),
      urls: { [view.size]: photoUrl(view, unique) },
      placeholder_image: null,
      sizes: { [view.size]: [1536, 2048] },
      default_photo: index === 0,
      cursor: null,
      ...(start === undefined ? {} : { location: start }),
    }
  })

export const embedToken = (workout: Workout): string => hexOf(keyedRandom(workout.athlete.seed, 'embed', workout.id), 20)
