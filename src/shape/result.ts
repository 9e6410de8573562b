// What is said about an activity's shape. Everything is JSON: what is not known is null, and nothing is NaN or undefined. Times are
// seconds on the streams' own time, so that a chart of the streams can be marked with them.

/** Raised whenever the same streams may give another shape; what was kept under an older number is computed anew. */
export const SHAPE_VERSION = 1

export type SegmentKind = 'warm-up' | 'work' | 'recovery' | 'steady' | 'cool-down'

/** What was done in a stretch of time. Averages are over moving time; those of the heart only where it can be trusted. */
export interface Stretch {
  readonly startS: number
  readonly endS: number
  readonly elapsedS: number
  readonly movingS: number
  readonly distanceMeters: number | null
  readonly avgSpeedMps: number | null
  readonly avgPaceSPerKm: number | null
  /** What the same effort would have given on the flat; runs only. */
  readonly avgGradeAdjustedPaceSPerKm: number | null
  readonly avgHeartRateBpm: number | null
  readonly avgPowerWatts: number | null
  readonly avgCadenceRpm: number | null
  readonly climbMeters: number | null
}

/** Segments follow each other without a gap, from the first sample to the last. */
export interface Segment extends Stretch {
  readonly kind: SegmentKind
}

/** A kilometre or a mile; the last one is what was left. */
export interface Split extends Stretch {
  readonly index: number
}

export interface Half {
  readonly avgHeartRateBpm: number
  /** Watts, or metres per second on the flat. */
  readonly avgEffort: number
}

/** How much less was done per heartbeat in the second half than in the first. Above 5 % is commonly called decoupling. */
export interface Drift {
  readonly percent: number
  readonly effort: 'power' | 'gradeAdjustedSpeed' | 'speed'
  /** Compared over all that moved between warm-up and cool-down, or from one interval to another. */
  readonly over: 'steady' | 'work'
  readonly firstHalf: Half
  readonly secondHalf: Half
}

export interface DistanceEffort {
  readonly kind: 'distance'
  readonly name: string
  readonly distanceMeters: number
  readonly elapsedS: number
  readonly avgPaceSPerKm: number
  readonly startS: number
  readonly endS: number
}

export interface PowerEffort {
  readonly kind: 'power'
  readonly name: string
  readonly elapsedS: number
  readonly avgPowerWatts: number
  readonly startS: number
  readonly endS: number
}

export type BestEffort = DistanceEffort | PowerEffort

export interface Zone {
  readonly zone: number
  readonly fromBpm: number
  /** The next zone's beginning; null for the last. */
  readonly belowBpm: number | null
  readonly seconds: number
}

export interface Zones {
  /** Zones the caller gave, shares of the maximum the caller gave, or of an assumed one. */
  readonly basis: 'given' | 'maximum' | 'assumed'
  readonly maxHeartRateBpm: number | null
  readonly items: readonly Zone[]
}

export type MomentKind = 'surge' | 'fade' | 'drift-onset' | 'cadence-drop'

/** Something worth a mark on the chart. The change is against what came before, or for a surge around it. */
export interface Moment {
  readonly kind: MomentKind
  readonly startS: number
  readonly endS: number
  readonly changePercent: number
}

export type HeartRateTrust = 'trusted' | 'doubtful' | 'absent'

export interface Shape {
  readonly version: number
  readonly segments: readonly Segment[]
  readonly drift: Drift | null
  readonly splits: { readonly km: readonly Split[]; readonly mile: readonly Split[] }
  readonly bestEfforts: readonly BestEffort[]
  readonly zones: Zones | null
  readonly moments: readonly Moment[]
  readonly heartRate: HeartRateTrust
  /** From 0 to 1: how far the segments and the sentence are to be believed. */
  readonly confidence: number
  readonly sentence: string
}
