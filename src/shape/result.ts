// The types of a shape, which is also what the API answers. Everything is JSON: what is not known is null, and nothing is NaN or
// undefined. Times are seconds on the streams' own time, so a chart of the streams can be marked with them.

/** Raised whenever the same streams may give another shape. A shape kept under an older version is computed anew. */
export const SHAPE_VERSION = 1

export type SegmentKind = 'warm-up' | 'work' | 'recovery' | 'steady' | 'cool-down'

/** What was done in a span of time. Averages are over moving time. The heart rate is null unless it is trusted. */
export interface SpanStats {
  readonly startS: number
  readonly endS: number
  readonly elapsedS: number
  readonly movingS: number
  readonly distanceMeters: number | null
  readonly avgSpeedMps: number | null
  readonly avgPaceSPerKm: number | null
  /** The pace that the same effort would have given on the flat; runs only. */
  readonly avgGradeAdjustedPaceSPerKm: number | null
  readonly avgHeartRateBpm: number | null
  readonly avgPowerWatts: number | null
  readonly avgCadenceRpm: number | null
  readonly climbMeters: number | null
}

/** Segments follow each other without gaps, from the first sample to the last. */
export interface Segment extends SpanStats {
  readonly kind: SegmentKind
}

/** A kilometre or a mile. The last one is what was left. */
export interface Split extends SpanStats {
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
  /** What was compared: the steady part between warm-up and cool-down, or the intervals. */
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
  /** Zones from the caller, or shares of a maximum from the caller, or shares of an assumed maximum. */
  readonly basis: 'given' | 'maximum' | 'assumed'
  readonly maxHeartRateBpm: number | null
  readonly items: readonly Zone[]
}

export type MomentKind = 'surge' | 'fade' | 'drift-onset' | 'cadence-drop'

/** Something worth a mark on the chart. The change is relative to what came before; for a surge, to what surrounds it. */
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
  /** From 0 to 1: how far the segments and the sentence can be believed. */
  readonly confidence: number
  readonly sentence: string
}
