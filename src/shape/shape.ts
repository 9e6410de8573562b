// The door: an activity's streams in, its shape out. Pure and deterministic: no clock, no store, nothing kept. Laws: it never throws,
// whatever the channels hold; a channel that is missing takes away only what is read from it; segments and splits each add up to the
// whole; a later start of the time moves the times and nothing else.
import { bestEffortsOf } from './best-efforts.ts'
import { cellsOf } from './cells.ts'
import { confidenceOf } from './confidence.ts'
import { driftOf } from './drift.ts'
import { effortOf } from './effort.ts'
import { doubtsOf, possibleBeats, zonesOf, type ZoneOptions } from './heart-rate.ts'
import { intervalsOf } from './intervals.ts'
import { momentsOf } from './moments.ts'
import { SHAPE_VERSION, type HeartRateTrust, type Shape } from './result.ts'
import { sectionsOf, segmentsOf } from './segments.ts'
import { sentenceOf } from './sentence.ts'
import { KM_M, MILE_M, splitsOf } from './splits.ts'
import { nounOf, sportKindOf } from './sports.ts'
import { tapeOf, type ShapeChannels, type Tape } from './tape.ts'
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
  Stretch,
  Zone,
  Zones,
} from './result.ts'
export type { ShapeChannels } from './tape.ts'

export interface ShapeInput extends ZoneOptions {
  /** As the vendor names it. */
  readonly sport: string
  readonly channels: ShapeChannels
}

export function shapeOf({ sport, channels, ...options }: ShapeInput): Shape {
  const { tape, trust } = trusting(tapeOf(sportKindOf(sport), channels))
  if (tape.time.length < 2) return nothing(trust)
  const trusts = trust === 'trusted'
  const [totals, cells] = [totalsOf(tape, trusts), cellsOf(tape)]
  const effort = effortOf(cells, trusts)
  const intervals = intervalsOf(cells, effort)
  const sections = sectionsOf(cells, intervals)
  const segments = segmentsOf(totals, sections)
  const drift = driftOf(totals, sections)
  const moments = momentsOf({ cells, totals, sections, intervals, drift })
  return {
    version: SHAPE_VERSION,
    segments,
    drift,
    splits: { km: splitsOf(totals, KM_M), mile: splitsOf(totals, MILE_M) },
    bestEfforts: bestEffortsOf(totals),
    zones: trusts && tape.heartRate ? zonesOf(tape, tape.heartRate, options) : null,
    moments,
    heartRate: trust,
    confidence: confidenceOf(tape, effort, intervals),
    sentence: sentenceOf({ noun: nounOf(sport), totals, sections, segments, drift, moments }),
  }
}

/** The tape with only such beats as can be, and whether they are to be used. */
function trusting(tape: Tape): { tape: Tape; trust: HeartRateTrust } {
  const { heartRate } = tape
  if (heartRate === undefined) return { tape, trust: 'absent' }
  return { tape: { ...tape, heartRate: possibleBeats(heartRate) }, trust: doubtsOf(tape).length === 0 ? 'trusted' : 'doubtful' }
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
