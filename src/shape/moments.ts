// Moments worth a mark on the chart: a surge in a steady run, a fade towards the end, the onset of drift, a drop of the cadence
// at the same pace. They are looked for in windows of minutes, never in single seconds.
import { settledSpan } from './drift.ts'
import { spanEndS, spanStartS, type Grid } from './grid.ts'
import type { Intervals } from './intervals.ts'
import type { Drift, Moment, MomentKind } from './result.ts'
import type { Section, TimeSpan } from './segments.ts'
import { average, median, rounded } from './series.ts'
import { averageOver, effortOver, movingSecondsOver, type Totals } from './totals.ts'

interface MomentInput {
  readonly grid: Grid
  readonly totals: Totals
  readonly sections: readonly Section[]
  readonly intervals: Intervals
  readonly drift: Drift | null
}

export function momentsOf(input: MomentInput): Moment[] {
  const moments = [...surges(input), ...fades(input), ...driftOnsets(input), ...cadenceDrops(input)]
  return moments.toSorted((a, b) => a.startS - b.startS || a.kind.localeCompare(b.kind))
}

function moment({ samples }: Totals, kind: MomentKind, { fromS, toS }: TimeSpan, change: number): Moment {
  return {
    kind,
    startS: rounded(samples.originS + fromS) ?? 0,
    endS: rounded(samples.originS + toS) ?? 0,
    changePercent: rounded(100 * change) ?? 0,
  }
}

const LEAST_SURGE = 0.14

function surges({ grid, totals, intervals }: MomentInput): Moment[] {
  if (totals.samples.distance === undefined && totals.watts === undefined) return []
  return intervals.surges
    .filter(({ step }) => step >= LEAST_SURGE)
    .map(({ from, to, step }) =>
      moment(totals, 'surge', { fromS: spanStartS(grid, from), toS: spanEndS(grid, to) }, Math.exp(step) - 1),
    )
}

/** Windows in which the athlete moved for more than four fifths of the time. */
function windowsOf(totals: Totals, span: TimeSpan | undefined, everyS: number, lengthS: number): TimeSpan[] {
  const windows: TimeSpan[] = []
  if (span === undefined) return windows
  const stepS = Math.max(everyS, (span.toS - span.fromS) / 2000)
  for (let { fromS } = span; fromS + lengthS <= span.toS; fromS += stepS) {
    const toS = fromS + lengthS
    if (movingSecondsOver(totals, fromS, toS) > 0.8 * lengthS) windows.push({ fromS, toS })
  }
  return windows
}

/** The first window from which on all are below; undefined if the last one is not. */
function beginningOf(windows: readonly TimeSpan[], isBelow: (window: TimeSpan) => boolean): TimeSpan | undefined {
  const lastAbove = windows.findLastIndex(window => !isBelow(window))
  return windows[lastAbove + 1]
}

const [FADE_SHARE, SHORTEST_FADING_S] = [0.06, 1200]
const FADED_WORKS_SHARE = 0.04

function fades(input: MomentInput): Moment[] {
  const works = input.sections.filter(({ kind }) => kind === 'work')
  return works.length >= 4 ? fadedWorks(input.totals, works) : fadedSteady(input)
}

/** The last third of the intervals against the first. */
function fadedWorks(totals: Totals, works: readonly Section[]): Moment[] {
  const third = Math.floor(works.length / 3)
  const paceOf = (some: readonly Section[]): number => average(some.map(({ fromS, toS }) => effortOver(totals, fromS, toS)))
  const late = works.slice(-third)
  const change = paceOf(late) / paceOf(works.slice(0, third)) - 1
  const [first, last] = [late[0], late.at(-1)]
  return change <= -FADED_WORKS_SHARE && first && last
    ? [moment(totals, 'fade', { fromS: first.fromS, toS: last.toS }, change)]
    : []
}

/** The last fifth of a steady activity against its middle. */
function fadedSteady({ totals, sections }: MomentInput): Moment[] {
  const span = settledSpan(sections)
  if (span === undefined || span.toS - span.fromS < SHORTEST_FADING_S) return []
  const part = (share: number): number => span.fromS + share * (span.toS - span.fromS)
  const middle = effortOver(totals, part(0.15), part(0.6))
  const change = effortOver(totals, part(0.8), span.toS) / middle - 1
  if (!(change <= -FADE_SHARE)) return []
  const windows = windowsOf(totals, span, 30, 180)
  const begin = beginningOf(windows, ({ fromS, toS }) => effortOver(totals, fromS, toS) < middle * (1 - FADE_SHARE / 2))
  return [moment(totals, 'fade', { fromS: begin?.fromS ?? part(0.8), toS: span.toS }, change)]
}

const DRIFT_PERCENT = 5

function driftOnsets({ totals, sections, drift }: MomentInput): Moment[] {
  const span = settledSpan(sections)
  if (drift === null || drift.over !== 'steady' || drift.percent < DRIFT_PERCENT || span === undefined) return []
  const windows = windowsOf(totals, span, 60, 300)
  const efficiency = ({ fromS, toS }: TimeSpan): number =>
    effortOver(totals, fromS, toS) / averageOver(totals, totals.heartRate, fromS, toS)
  const early = average(windows.slice(0, Math.ceil(windows.length / 4)).map(efficiency))
  const begin = beginningOf(windows, window => efficiency(window) < early * (1 - DRIFT_PERCENT / 100))
  if (begin === undefined || Number.isNaN(early)) return []
  const after = { fromS: begin.fromS, toS: span.toS }
  return [moment(totals, 'drift-onset', after, efficiency(after) / early - 1)]
}

const [DROP_SHARE, SAME_PACE_SHARE] = [0.05, 0.06]

/** Slower steps at the same pace, for two minutes and more. */
function cadenceDrops({ totals, sections }: MomentInput): Moment[] {
  if (totals.samples.kind !== 'run' || totals.cadence === undefined) return []
  const windows = windowsOf(totals, settledSpan(sections), 30, 120)
  const cadence = ({ fromS, toS }: TimeSpan): number => averageOver(totals, totals.cadence, fromS, toS)
  const pace = ({ fromS, toS }: TimeSpan): number => effortOver(totals, fromS, toS)
  const [usualCadence, usualPace] = [median(windows.map(cadence)), median(windows.map(pace))]
  const dropped = windows.filter(
    window => cadence(window) < usualCadence * (1 - DROP_SHARE) && pace(window) > usualPace * (1 - SAME_PACE_SHARE),
  )
  return joinedWindows(dropped).map(window => moment(totals, 'cadence-drop', window, cadence(window) / usualCadence - 1))
}

function joinedWindows(windows: readonly TimeSpan[]): TimeSpan[] {
  return windows.reduce<TimeSpan[]>((joined, window) => {
    const last = joined.at(-1)
    if (last === undefined || window.fromS > last.toS) joined.push(window)
    else joined[joined.length - 1] = { fromS: last.fromS, toS: window.toS }
    return joined
  }, [])
}
