// Moments worth a mark on the chart: a surge out of steady running, a fade towards the end, the point from which the heart beats
// faster for the same work, a stretch in which the steps slow while the pace does not. Looked for in windows, not in single seconds.
import { beginS, finishS, type Cells } from './cells.ts'
import { settledSpan } from './drift.ts'
import type { Intervals } from './intervals.ts'
import type { Drift, Moment, MomentKind } from './result.ts'
import type { Section } from './segments.ts'
import { average, median, rounded } from './series.ts'
import { averaged, movedS, workOver, type Totals } from './totals.ts'

export interface Known {
  readonly cells: Cells
  readonly totals: Totals
  readonly sections: readonly Section[]
  readonly intervals: Intervals
  readonly drift: Drift | null
}

interface Window {
  readonly fromS: number
  readonly toS: number
}

export function momentsOf(known: Known): Moment[] {
  const moments = [...surges(known), ...fades(known), ...driftOnsets(known), ...cadenceDrops(known)]
  return moments.toSorted((a, b) => a.startS - b.startS || a.kind.localeCompare(b.kind))
}

function moment({ tape }: Totals, kind: MomentKind, { fromS, toS }: Window, change: number): Moment {
  return {
    kind,
    startS: rounded(tape.originS + fromS) ?? 0,
    endS: rounded(tape.originS + toS) ?? 0,
    changePercent: rounded(100 * change) ?? 0,
  }
}

const LEAST_SURGE = 0.14

function surges({ cells, totals, intervals }: Known): Moment[] {
  if (totals.tape.distance === undefined && totals.watts === undefined) return []
  return intervals.surges
    .filter(({ step }) => step >= LEAST_SURGE)
    .map(({ from, to, step }) =>
      moment(totals, 'surge', { fromS: beginS(cells, from), toS: finishS(cells, to) }, Math.exp(step) - 1),
    )
}

/** Windows in which there was hardly any standing. */
function windowsOf(totals: Totals, span: Window | undefined, everyS: number, lengthS: number): Window[] {
  const windows: Window[] = []
  if (span === undefined) return windows
  const stepS = Math.max(everyS, (span.toS - span.fromS) / 2000)
  for (let { fromS } = span; fromS + lengthS <= span.toS; fromS += stepS) {
    const toS = fromS + lengthS
    if (movedS(totals, fromS, toS) > 0.8 * lengthS) windows.push({ fromS, toS })
  }
  return windows
}

/** From where on every window is below the bar; undefined if the last one is not. */
function beginningOf(windows: readonly Window[], isBelow: (window: Window) => boolean): Window | undefined {
  const lastAbove = windows.findLastIndex(window => !isBelow(window))
  return windows[lastAbove + 1]
}

const [FADE_SHARE, SHORTEST_FADING_S] = [0.06, 1200]
const FADED_WORKS_SHARE = 0.04

function fades(known: Known): Moment[] {
  const works = known.sections.filter(({ kind }) => kind === 'work')
  return works.length >= 4 ? fadedWorks(known.totals, works) : fadedSteady(known)
}

/** The last third of the intervals against the first. */
function fadedWorks(totals: Totals, works: readonly Section[]): Moment[] {
  const third = Math.floor(works.length / 3)
  const paceOf = (some: readonly Section[]): number => average(some.map(({ fromS, toS }) => workOver(totals, fromS, toS)))
  const late = works.slice(-third)
  const change = paceOf(late) / paceOf(works.slice(0, third)) - 1
  const [first, last] = [late[0], late.at(-1)]
  return change <= -FADED_WORKS_SHARE && first && last
    ? [moment(totals, 'fade', { fromS: first.fromS, toS: last.toS }, change)]
    : []
}

/** The last fifth of a steady activity against its middle. */
function fadedSteady({ totals, sections }: Known): Moment[] {
  const span = settledSpan(sections)
  if (span === undefined || span.toS - span.fromS < SHORTEST_FADING_S) return []
  const part = (share: number): number => span.fromS + share * (span.toS - span.fromS)
  const middle = workOver(totals, part(0.15), part(0.6))
  const change = workOver(totals, part(0.8), span.toS) / middle - 1
  if (!(change <= -FADE_SHARE)) return []
  const windows = windowsOf(totals, span, 30, 180)
  const begin = beginningOf(windows, ({ fromS, toS }) => workOver(totals, fromS, toS) < middle * (1 - FADE_SHARE / 2))
  return [moment(totals, 'fade', { fromS: begin?.fromS ?? part(0.8), toS: span.toS }, change)]
}

const DRIFT_PERCENT = 5

function driftOnsets({ totals, sections, drift }: Known): Moment[] {
  const span = settledSpan(sections)
  if (drift === null || drift.over !== 'steady' || drift.percent < DRIFT_PERCENT || span === undefined) return []
  const windows = windowsOf(totals, span, 60, 300)
  const efficiency = ({ fromS, toS }: Window): number =>
    workOver(totals, fromS, toS) / averaged(totals, totals.heartRate, fromS, toS)
  const early = average(windows.slice(0, Math.ceil(windows.length / 4)).map(efficiency))
  const begin = beginningOf(windows, window => efficiency(window) < early * (1 - DRIFT_PERCENT / 100))
  if (begin === undefined || Number.isNaN(early)) return []
  const after = { fromS: begin.fromS, toS: span.toS }
  return [moment(totals, 'drift-onset', after, efficiency(after) / early - 1)]
}

const [DROP_SHARE, SAME_PACE_SHARE] = [0.05, 0.06]

/** Slower steps at the same pace, for two minutes and more. */
function cadenceDrops({ totals, sections }: Known): Moment[] {
  if (totals.tape.kind !== 'run' || totals.cadence === undefined) return []
  const windows = windowsOf(totals, settledSpan(sections), 30, 120)
  const cadence = ({ fromS, toS }: Window): number => averaged(totals, totals.cadence, fromS, toS)
  const pace = ({ fromS, toS }: Window): number => workOver(totals, fromS, toS)
  const [usualCadence, usualPace] = [median(windows.map(cadence)), median(windows.map(pace))]
  const dropped = windows.filter(
    window => cadence(window) < usualCadence * (1 - DROP_SHARE) && pace(window) > usualPace * (1 - SAME_PACE_SHARE),
  )
  return joinedWindows(dropped).map(window => moment(totals, 'cadence-drop', window, cadence(window) / usualCadence - 1))
}

function joinedWindows(windows: readonly Window[]): Window[] {
  return windows.reduce<Window[]>((joined, window) => {
    const last = joined.at(-1)
    if (last === undefined || window.fromS > last.toS) joined.push(window)
    else joined[joined.length - 1] = { fromS: last.fromS, toS: window.toS }
    return joined
  }, [])
}
