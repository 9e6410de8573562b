// The door: an activity's streams in, its shape out. Pure and deterministic: no clock, no store, nothing kept. Laws: it never
// throws, whatever the channels hold; a missing channel takes away only what is read from it; segments and splits each add up to
// the whole; a later start of the time moves the times and nothing else.
import { bestEffortsOf } from './best-efforts.ts'
import { confidenceOf } from './confidence.ts'
import { driftOf } from './drift.ts'
import { effortOf } from './effort.ts'
import { gridOf } from './grid.ts'
import { doubtsOf, possibleBeats, zonesOf, type ZoneOptions } from './heart-rate.ts'
import { intervalsOf } from './intervals.ts'
import { momentsOf } from './moments.ts'
import { SHAPE_VERSION, type HeartRateTrust, type Shape } from './result.ts'
import { samplesOf, type Samples, type ShapeChannels } from './samples.ts'
import { sectionsOf, segmentsOf } from './segments.ts'
import { sentenceOf } from './sentence.ts'
import { KM_M, MILE_M, splitsOf } from './splits.ts'
import { nounOf, sportKindOf } from './sports.ts'
import { totalsOf } from './totals.ts'

export { SHAPE_VERSION } from './result.ts'
export type {
  BestEffort,
  DistanceEffort,
  Drift,
  Half,
  HeartRateTrust,
  Moment,
  MomentKind,
  PowerEffort,
  Segment,
  SegmentKind,
  Shape,
  Split,
  SpanStats,
  Zone,
  Zones,
} from './result.ts'
export type { ShapeChannels } from './samples.ts'

interface ShapeInput extends ZoneOptions {
  /** As the vendor names it. */
  readonly sport: string
  readonly channels: ShapeChannels
}

export function shapeOf({ sport, channels, ...options }: ShapeInput): Shape {
  const { samples, trust } = withTrust(samplesOf(sportKindOf(sport), channels))
  if (samples.time.length < 2) return nothing(trust)
  const trusts = trust === 'trusted'
  const [totals, grid] = [totalsOf(samples, trusts), gridOf(samples)]
  const effort = effortOf(grid, trusts)
  const intervals = intervalsOf(grid, effort)
  const sections = sectionsOf(grid, intervals)
  const segments = segmentsOf(totals, sections)
  const drift = driftOf(totals, sections)
  const moments = momentsOf({ grid, totals, sections, intervals, drift })
  return {
    version: SHAPE_VERSION,
    segments,
    drift,
    splits: { km: splitsOf(totals, KM_M), mile: splitsOf(totals, MILE_M) },
    bestEfforts: bestEffortsOf(totals),
    zones: trusts && samples.heartRate ? zonesOf(samples, samples.heartRate, options) : null,
    moments,
    heartRate: trust,
    confidence: confidenceOf(samples, effort, intervals),
    sentence: sentenceOf({ noun: nounOf(sport), totals, sections, segments, drift, moments }),
  }
}

/** The samples with possible heart rates only, and whether these are trusted. */
function withTrust(samples: Samples): { samples: Samples; trust: HeartRateTrust } {
  const { heartRate } = samples
  if (heartRate === undefined) return { samples, trust: 'absent' }
  return {
    samples: { ...samples, heartRate: possibleBeats(heartRate) },
    trust: doubtsOf(samples).length === 0 ? 'trusted' : 'doubtful',
  }
}

/** One sample or none has no shape. */
const nothing = (heartRate: HeartRateTrust): Shape => ({
  version: SHAPE_VERSION,
  segments: [],
  drift: null,
  splits: { km: [], mile: [] },
  bestEfforts: [],
  zones: null,
  moments: [],
  heartRate,
  confidence: 0,
  sentence: 'Nothing was recorded',
})
