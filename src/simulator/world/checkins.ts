// Where the athlete was seen: cafés, tracks and gyms near home.
import type { Random } from '../../kernel/random.ts'
import type { Athlete } from './athletes.ts'
import { chance, hexOf, pick, range, round } from './chance.ts'
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

/** Two or three a week. */
export function checkinsOf(athlete: Athlete, untilDay: number, days: number): Checkin[] {
  return Array.from({ length: days }, (_, back) => untilDay - back).flatMap(day => {
    const dice = chance(athlete.seed, 'checkin', day)
    return dice.next() > 0.36 ? [] : checkinOf(athlete, dice, day)
  })
}

/** At some hour of the day. */
export function checkinOf(athlete: Athlete, dice: Random, day: number): Checkin {
  const [venueName, category] = pick(dice, VENUES)
  const venue = chance(athlete.seed, venueName)
  return {
    id: hexOf(dice, 12),
    at: day * DAY_MS + Math.round(range(dice, 7, 20) * 3600) * 1000,
    venueId: hexOf(venue, 12),
    venueName,
    category,
    ...(dice.next() < 0.4 ? { shout: pick(dice, ['Legs!', 'Flat white first', 'New shoes', 'PB?']) } : {}),
    lat: round(athlete.place.lat + range(venue, -0.02, 0.02), 6),
    lng: round(athlete.place.lng + range(venue, -0.02, 0.02), 6),
  }
}
