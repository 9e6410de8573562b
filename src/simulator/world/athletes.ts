// Athletes: a body, a home and an account at each vendor, all from a seed.
import { hexOf, keyedRandom, pick, range, round, uuidOf } from './keyed-random.ts'

interface Home {
  readonly city: string
  readonly state: string
  readonly country: string
  readonly cc: string
  readonly zone: string
  /** As Strava writes the time zone, without daylight saving. */
  readonly stravaZone: string
  readonly lat: number
  readonly lng: number
  readonly altitudeM: number
}

const HOMES: readonly [Home, ...Home[]] = [
  home(['Berlin', 'Berlin', 'Germany', 'DE'], ['Europe/Berlin', '(GMT+01:00)'], [52.51, 13.41, 40]),
  home(['Boulder', 'Colorado', 'United States', 'US'], ['America/Denver', '(GMT-07:00)'], [40.01, -105.27, 1655]),
  home(['Leeds', 'England', 'United Kingdom', 'GB'], ['Europe/London', '(GMT+00:00)'], [53.8, -1.55, 60]),
  home(['New York', 'New York', 'United States', 'US'], ['America/New_York', '(GMT-05:00)'], [40.78, -73.96, 20]),
  home(['Melbourne', 'Victoria', 'Australia', 'AU'], ['Australia/Melbourne', '(GMT+10:00)'], [-37.83, 144.98, 25]),
]

function home(
  [city, state, country, cc]: [string, string, string, string],
  [zone, standard]: [string, string],
  [lat, lng, altitudeM]: [number, number, number],
): Home {
  return { city, state, country, cc, zone, stravaZone: `${standard} ${zone}`, lat, lng, altitudeM }
}

export interface VendorIds {
  readonly strava: string
  readonly garmin: string
  readonly oura: string
  readonly whoop: string
  readonly foursquare: string
}

export interface Athlete {
  readonly id: string
  readonly seed: number
  readonly firstName: string
  readonly lastName: string
  readonly sex: 'M' | 'F'
  readonly home: Home
  readonly ageYears: number
  readonly weightKg: number
  readonly heightM: number
  readonly restBpm: number
  readonly maxBpm: number
  /** The speed that the athlete can run for an hour. */
  readonly thresholdMps: number
  readonly ftpWatts: number
  readonly ids: VendorIds
}

export function athleteOf(id: string, seed: number): Athlete {
  const random = keyedRandom(seed, 'athlete')
  const ageYears = Math.round(range(random, 22, 58))
  return {
    id,
    seed,
    firstName: pick(random, ['Ada', 'Ben', 'Chiara', 'Deniz', 'Emil', 'Freya', 'Goran', 'Hana']),
    lastName: pick(random, ['Keller', 'Morris', 'Novak', 'Osei', 'Park', 'Quinn', 'Rossi', 'Singh']),
    sex: pick(random, ['M', 'F']),
    home: pick(random, HOMES),
    ageYears,
    weightKg: round(range(random, 54, 86), 1),
    heightM: round(range(random, 1.58, 1.94), 2),
    restBpm: Math.round(range(random, 42, 56)),
    maxBpm: Math.round(212 - ageYears * 0.67 + range(random, -4, 4)),
    thresholdMps: round(range(random, 3.4, 4.6), 2),
    ftpWatts: Math.round(range(random, 190, 310)),
    ids: vendorIds(seed),
  }
}

function vendorIds(seed: number): VendorIds {
  const random = keyedRandom(seed, 'vendor-ids')
  const digits = (from: number, to: number): string => String(Math.floor(range(random, from, to)))
  return {
    strava: digits(40_000_000, 190_000_000),
    garmin: hexOf(random, 16),
    oura: uuidOf(random),
    whoop: digits(1_000_000, 9_999_999),
    foursquare: digits(10_000_000, 99_999_999),
  }
}
