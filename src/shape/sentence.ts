// The activity in one plain sentence: what it was, how it went, and what the heart rate did, if it is trusted. It says only what
// the rest of the shape shows.
import { settledSpan } from './drift.ts'
import type { Drift, Moment, Segment } from './result.ts'
import type { Section } from './segments.ts'
import { average, median, spread } from './series.ts'
import { effortOver, type Totals } from './totals.ts'
import { commonSize, durationText, metresText, paceText, rangeText } from './wording.ts'

interface SentenceInput {
  /** What the activity is called: a run, a hike. */
  readonly noun: string
  readonly totals: Totals
  readonly sections: readonly Section[]
  readonly segments: readonly Segment[]
  readonly drift: Drift | null
  readonly moments: readonly Moment[]
}

export function sentenceOf(input: SentenceInput): string {
  const works = input.segments.filter(({ kind }) => kind === 'work')
  const parts =
    works.length > 0
      ? [worksText(input, works), heartText(input), trendText(input, works)]
      : [steadyText(input), pacingText(input), heartText(input)]
  return parts.filter(part => part !== undefined).join(', ')
}

function worksText({ totals, segments }: SentenceInput, works: readonly Segment[]): string {
  const size = sizeOf(works)
  const level = levelText(totals, works)
  if (works.length === 1) return `One effort of ${size ?? durationText(works[0]?.elapsedS ?? 0)}${level}`
  const rests = segments.filter(({ kind }) => kind === 'recovery')
  const count =
    size === undefined
      ? `${works.length} intervals of ${rangeText(works.map(({ elapsedS }) => elapsedS))}`
      : `${works.length} × ${size}`
  return `${count}${level}${rests.length > 0 ? ` with ${restText(totals, rests)}` : ''}`
}

function sizeOf(segments: readonly Segment[]): string | undefined {
  const metres = segments.map(({ distanceMeters }) => distanceMeters ?? 0)
  return commonSize(
    metres,
    segments.map(({ elapsedS }) => elapsedS),
  )
}

/** A ride's intervals are named by their power. */
function levelText({ samples, watts }: Totals, works: readonly Segment[]): string {
  if (samples.kind !== 'ride' || watts === undefined) return ''
  return ` at ${Math.round(average(works.map(({ avgPowerWatts }) => avgPowerWatts ?? 0)))} W`
}

const [STANDING_SHARE, JOG_MPS] = [0.4, 1.9]

function restText({ samples }: Totals, rests: readonly Segment[]): string {
  const seconds = median(rests.map(({ elapsedS }) => elapsedS))
  const isStanding = median(rests.map(({ movingS, elapsedS }) => movingS / elapsedS)) < STANDING_SHARE
  const size =
    (isStanding
      ? commonSize(
          undefined,
          rests.map(({ elapsedS }) => elapsedS),
        )
      : sizeOf(rests)) ?? `about ${durationText(Math.round(seconds / 10) * 10)}`
  if (isStanding || samples.kind === 'swim' || samples.kind === 'other') return `${size} rest`
  if (samples.kind === 'ride' || samples.speed === undefined) return `${size} easy`
  return `${size} ${median(rests.map(({ avgSpeedMps }) => avgSpeedMps ?? 0)) < JOG_MPS ? 'walk' : 'jog'}`
}

const STEADY_PERCENT = 5

function heartText({ drift }: SentenceInput): string | undefined {
  if (drift === null) return undefined
  if (Math.abs(drift.percent) < STEADY_PERCENT) return 'steady heart rate'
  const size = Math.round(Math.abs(drift.percent))
  return drift.percent > 0 ? `heart rate drifting up ${size} %` : `heart rate easing by ${size} %`
}

function trendText({ totals, sections, moments }: SentenceInput, works: readonly Segment[]): string | undefined {
  if (works.length < 3) return undefined
  const levels = sections.filter(({ kind }) => kind === 'work').map(({ fromS, toS }) => effortOver(totals, fromS, toS))
  const rep = totals.samples.kind === 'ride' ? 'strongest' : 'fastest'
  if (levels.some(Number.isNaN)) return undefined
  if (moments.some(({ kind }) => kind === 'fade')) return 'fading towards the end'
  if (levels.at(-1) === Math.max(...levels) && (levels.at(-1) ?? 0) > 1.01 * average(levels)) return `last rep ${rep}`
  if (levels[0] === Math.max(...levels) && levels[0] > 1.02 * average(levels)) return `first rep ${rep}`
  return spread(levels) < 0.02 ? 'evenly paced' : undefined
}

const SHORT_S = 60
const HILLY_M_PER_KM = 10

function steadyText({ noun, totals, segments }: SentenceInput): string {
  const sum = (key: 'elapsedS' | 'movingS' | 'distanceMeters' | 'climbMeters'): number =>
    segments.reduce((all, segment) => all + (segment[key] ?? 0), 0)
  const [seconds, metres, climb] = [sum('movingS'), sum('distanceMeters'), sum('climbMeters')]
  if (sum('elapsedS') < SHORT_S) return `Short recording of ${durationText(sum('elapsedS'))}`
  if (metres < 100) return timedText({ totals, seconds: seconds > 0 ? seconds : sum('elapsedS'), noun })
  const hilly = climb > 0 && climb / (metres / 1000) >= HILLY_M_PER_KM ? ` with ${Math.round(climb)} m of climbing` : ''
  return `Steady ${metresText(metres)} ${noun}${speedText(totals, metres, seconds)}${hilly}`
}

function timedText({ totals, seconds, noun }: { totals: Totals; seconds: number; noun: string }): string {
  const bpm = totals.heartRate ? averageBeats(totals) : undefined
  return `${durationText(seconds)} ${noun}${bpm === undefined ? '' : ` at a heart rate of ${Math.round(bpm)}`}`
}

function averageBeats({ heartRate }: Totals): number | undefined {
  const [sum, seconds] = [heartRate?.sums.at(-1) ?? 0, heartRate?.seconds.at(-1) ?? 0]
  return seconds > 0 ? sum / seconds : undefined
}

function speedText({ samples, watts }: Totals, metres: number, seconds: number): string {
  if (seconds <= 0) return ''
  if (samples.kind === 'run') return ` at ${paceText((seconds / metres) * 1000)}`
  if (samples.kind === 'swim') return ` at ${paceText((seconds / metres) * 100).replace('/km', '/100 m')}`
  const [joules, powered] = [watts?.sums.at(-1) ?? 0, watts?.seconds.at(-1) ?? 0]
  if (samples.kind === 'ride' && joules > 0) return ` at ${Math.round(joules / powered)} W`
  return ` at ${((metres / seconds) * 3.6).toFixed(1)} km/h`
}

const [SHORTEST_PACED_S, EVEN_SHARE] = [1200, 0.025]

function pacingText({ totals, sections, moments }: SentenceInput): string | undefined {
  const fade = moments.find(({ kind }) => kind === 'fade')
  if (fade) return `fading by ${Math.round(-fade.changePercent)} %`
  const span = settledSpan(sections)
  if (span === undefined || span.toS - span.fromS < SHORTEST_PACED_S) return undefined
  const middleS = (span.fromS + span.toS) / 2
  const change = effortOver(totals, middleS, span.toS) / effortOver(totals, span.fromS, middleS) - 1
  if (Number.isNaN(change)) return undefined
  if (Math.abs(change) <= EVEN_SHARE) return 'evenly paced'
  return change > 0 ? 'stronger in the second half' : undefined
}
