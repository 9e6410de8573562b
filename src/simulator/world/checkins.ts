// Check-ins at cafés, tracks and gyms near the athlete's home.
import type { Random } from '../../kernel/random.ts'
import type { Athlete } from './athletes.ts'
import { hexOf, keyedRandom, pick, range, round } from './keyed-random.ts'
import { DAY_MS } from './workouts.ts'

export interface Checkin {
  readonly id: string
  readonly at: number
  readonly venueId: string
  readonly venueName: string
  readonly category: string
  readonly shout?: string
  readonly lat: number
  readonly lng: number
}

const VENUES: readonly [readonly [string, string], ...(readonly [string, string])[]] = [
  ['The Roastery', 'Café'],
  ['Stadium track', 'Track'],
  ['Iron Yard', 'Gym'],
  ['City Baths', 'Pool'],
  ['Trailhead car park', 'Trail'],
]

/** Two or three check-ins a week. */
export function checkinsOf(athlete: Athlete, untilDay: number, days: number): Checkin[] {
  return Array.from({ length: days }, (_, back) => untilDay - back).flatMap(day => {
    const random = keyedRandom(athlete.seed, 'checkin', day)
    return random.next() > 0.36 ? [] : checkinOf(athlete, random, day)
  })
}

/** A check-in at some hour of the day. */
export function checkinOf(athlete: Athlete, random: Random, day: number): Checkin {
  const [venueName, category] = pick(random, VENUES)
  const venue = keyedRandom(athlete.seed, venueName)
  return {
    id: hexOf(random, 12),
    at: day * DAY_MS + Math.round(range(random, 7, 20) * 3600) * 1000,
    venueId: hexOf(venue, 12),
    venueName,
    category,
    ...(random.next() < 0.4 ? { shout: pick(random, ['Legs!', 'Flat white first', 'New shoes', 'PB?']) } : {}),
    lat: round(athlete.home.lat + range(venue, -0.02, 0.02), 6),
    lng: round(athlete.home.lng + range(venue, -0.02, 0.02), 6),
  }
}
