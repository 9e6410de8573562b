// The activity as named segments without gaps: before the intervals, the intervals, between them, after them. Without intervals
// it is steady, with a warm-up or cool-down where the beginning or end was clearly easier.
import { spanEndS, spanStartS, type Grid } from './grid.ts'
import type { CellRange, Intervals } from './intervals.ts'
import type { Segment, SegmentKind } from './result.ts'
import { median } from './series.ts'
import { spanStats, type Totals } from './totals.ts'

/** In seconds since the first sample. */
export interface TimeSpan {
  readonly fromS: number
  readonly toS: number
}

/** A segment before its totals are known. */
export interface Section extends TimeSpan {
  readonly kind: SegmentKind
}

const LONGEST_WARM_UP_S = 2400
/** What lasts ten times as long as all intervals together is no warm-up for them, and no cool-down. */
const WARM_UP_SHARE = 10
const LONGEST_RECOVERY_S = 600
const RECOVERY_SHARE = 3
const SHORTEST_SECTION_S = 1

export function sectionsOf(grid: Grid, intervals: Intervals): Section[] {
  const lastS = grid.samples.time.at(-1) ?? 0
  const works = intervals.works.map(({ from, to }): Section => ({
    kind: 'work',
    fromS: spanStartS(grid, from),
    toS: spanEndS(grid, to),
  }))
  const between = works.length > 0 ? aroundWorks(works, lastS) : steadySections(grid, intervals, lastS)
  return [...works, ...between].filter(({ fromS, toS }) => toS > fromS).toSorted((a, b) => a.fromS - b.fromS)
}

const lengthOf = ({ fromS, toS }: Section): number => toS - fromS

function aroundWorks(works: readonly Section[], lastS: number): Section[] {
  const total = works.reduce((sum, work) => sum + lengthOf(work), 0)
  const longestRest = Math.max(LONGEST_RECOVERY_S, RECOVERY_SHARE * median(works.map(lengthOf)))
  const isLong = (seconds: number): boolean => seconds > LONGEST_WARM_UP_S || seconds > WARM_UP_SHARE * total
  const first = works[0]?.fromS ?? 0
  const end = works.at(-1)?.toS ?? lastS
  const rests = works.slice(1).map((work, index): Section => {
    const rest = { fromS: works[index]?.toS ?? 0, toS: work.fromS }
    return { ...rest, kind: rest.toS - rest.fromS > longestRest ? 'steady' : 'recovery' }
  })
  return [
    { kind: isLong(first) ? 'steady' : 'warm-up', fromS: 0, toS: first },
    ...rests,
    { kind: isLong(lastS - end) ? 'steady' : 'cool-down', fromS: end, toS: lastS },
  ]
}

const SHORTEST_WHOLE_S = 1200
const EASIER_STEP = 0.1
const LONGEST_SHARE = 0.35

/** The longest plateau is the main part. A clearly easier first or last one is the warm-up or the cool-down. */
function steadySections(grid: Grid, { levels }: Intervals, lastS: number): Section[] {
  const main = levels.toSorted((a, b) => b.to - b.from - (a.to - a.from))[0]
  const [head, tail] = [levels[0], levels.at(-1)]
  const isEasier = (plateau: (CellRange & { level: number }) | undefined, seconds: number): boolean =>
    plateau !== undefined &&
    main !== undefined &&
    plateau.level < main.level - EASIER_STEP &&
    seconds < LONGEST_SHARE * lastS &&
    seconds >= 60
  const headS = head ? spanEndS(grid, head.to) : 0
  const tailS = tail ? spanStartS(grid, tail.from) : lastS
  const fromS = lastS >= SHORTEST_WHOLE_S && isEasier(head, headS) ? headS : 0
  const toS = lastS >= SHORTEST_WHOLE_S && isEasier(tail, lastS - tailS) ? tailS : lastS
  if (toS - fromS < SHORTEST_SECTION_S) return [{ kind: 'steady', fromS: 0, toS: lastS }]
  return [
    { kind: 'warm-up', fromS: 0, toS: fromS },
    { kind: 'steady', fromS, toS },
    { kind: 'cool-down', fromS: toS, toS: lastS },
  ]
}

export const segmentsOf = (totals: Totals, sections: readonly Section[]): Segment[] =>
  sections.map(({ kind, fromS, toS }) => ({ kind, ...spanStats(totals, fromS, toS) }))
