// The kind of a sport, which decides how its streams are read, and the limits of each kind. Names are Strava's and Garmin's,
// compared without case and separators, so `TRAIL_RUNNING` is read like `TrailRun`.

export type SportKind = 'run' | 'ride' | 'swim' | 'other'

const KINDS: readonly (readonly [SportKind, RegExp])[] = [
  ['ride', /ride|cycl|bike|biking|velo/],
  ['run', /run|walk|hik|track|treadmill|wheelchair/],
  ['swim', /swim/],
]

export function sportKindOf(sport: string): SportKind {
  const plain = sport.toLowerCase().replaceAll(/[^a-z]/g, '')
  return KINDS.find(([, pattern]) => pattern.test(plain))?.[0] ?? 'other'
}

const NOUNS: readonly (readonly [RegExp, string])[] = [
  [/hik/, 'hike'],
  [/walk/, 'walk'],
  [/row/, 'row'],
]

/** What the sentence calls the activity. */
export const nounOf = (sport: string): string =>
  NOUNS.find(([pattern]) => pattern.test(sport.toLowerCase()))?.[1] ?? TRAITS[sportKindOf(sport)].noun

interface SportTraits {
  /** Slower than this is standing. */
  readonly idleMps: number
  /** Faster than this is an error of the recording. */
  readonly fastestMps: number
  readonly noun: string
}

export const TRAITS: Readonly<Record<SportKind, SportTraits>> = {
  run: { idleMps: 0.5, fastestMps: 11, noun: 'run' },
  ride: { idleMps: 0.8, fastestMps: 35, noun: 'ride' },
  swim: { idleMps: 0.2, fastestMps: 3, noun: 'swim' },
  other: { idleMps: 0.3, fastestMps: 60, noun: 'session' },
}
