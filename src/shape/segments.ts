// The activity as named segments that follow each other without a gap: what came before the intervals, the intervals, what lay
// between them, what came after. Without intervals it is steady, with an easier beginning or end where there clearly was one.
import { beginS, finishS, type Cells } from './cells.ts'
import type { Intervals, Span } from './intervals.ts'
import type { Segment, SegmentKind } from './result.ts'
import { median } from './series.ts'
import { stretchOf, type Totals } from './totals.ts'

/** Seconds since the first sample. */
export interface Section {
  readonly kind: SegmentKind
  readonly fromS: number
  readonly toS: number
}

const LONGEST_WARM_UP_S = 2400
/** Who runs ten times as long as the strides that follow did not warm up for them. */
const WARM_UP_SHARE = 10
const LONGEST_RECOVERY_S = 600
const RECOVERY_SHARE = 3
const SHORTEST_SECTION_S = 1

export function sectionsOf(cells: Cells, intervals: Intervals): Section[] {
  const lastS = cells.tape.time.at(-1) ?? 0
  const works = intervals.works.map(({ from, to }): Section => ({
    kind: 'work',
    fromS: beginS(cells, from),
    toS: finishS(cells, to),
  }))
  const between = works.length > 0 ? aroundWorks(works, lastS) : steadySections(cells, intervals, lastS)
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

/** The longest piece is the run; one that is clearly easier at either end has its own name. */
function steadySections(cells: Cells, { levels }: Intervals, lastS: number): Section[] {
  const main = levels.toSorted((a, b) => b.to - b.from - (a.to - a.from))[0]
  const [head, tail] = [levels[0], levels.at(-1)]
  const isEasier = (piece: (Span & { level: number }) | undefined, seconds: number): boolean =>
    piece !== undefined &&
    main !== undefined &&
    piece.level < main.level - EASIER_STEP &&
    seconds < LONGEST_SHARE * lastS &&
    seconds >= 60
  const headS = head ? finishS(cells, head.to) : 0
  const tailS = tail ? beginS(cells, tail.from) : lastS
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
  sections.map(({ kind, fromS, toS }) => ({ kind, ...stretchOf(totals, fromS, toS) }))
