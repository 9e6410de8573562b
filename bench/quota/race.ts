// Contestants take turns in short rounds and each is judged by its median, so that what a noisy machine does to one of them it
// does to all.
export type Work = () => Promise<unknown>

export interface Course {
  readonly inFlight: number
  readonly rounds: number
  readonly roundMs: number
}

const WARM_UP_ROUNDS = 1

/** How often each was done in a second. */
export async function race<Name extends string>(works: Record<Name, Work>, course: Course): Promise<Record<Name, number>> {
  const names = Object.keys(works) as Name[]
  const rates = new Map(names.map(name => [name, [] as number[]]))
  for (let round = -WARM_UP_ROUNDS; round < course.rounds; round++) {
    for (const name of names) {
      const rate = await perSecond(works[name], course)
      if (round >= 0) rates.get(name)?.push(rate)
    }
  }
  return Object.fromEntries(names.map(name => [name, quantile(rates.get(name) ?? [], 0.5)])) as Record<Name, number>
}

async function perSecond(work: Work, { inFlight, roundMs }: Course): Promise<number> {
  const startedAt = performance.now()
  let done = 0
  const runner = async (): Promise<void> => {
    while (performance.now() < startedAt + roundMs) {
      await work()
      done += 1
    }
  }
  await Promise.all(Array.from({ length: inFlight }, runner))
  return (1000 * done) / (performance.now() - startedAt)
}

/** How long each took, in milliseconds. */
export async function durations(work: Work, course: Omit<Course, 'rounds'>): Promise<number[]> {
  const all: number[] = []
  await perSecond(
    async () => {
      const startedAt = performance.now()
      await work()
      all.push(performance.now() - startedAt)
    },
    { ...course, rounds: 1 },
  )
  return all
}

export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN
}
