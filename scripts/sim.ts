// `npm run sim -- --seed N`: three days of the quota in virtual time, the same way each time for a seed. `npm run sim -- --fair`: three days
// of fifty athletes in the whole program, in one process and in three. Ends with 0 and a summary, or with 1, the seed and what was broken.
import { parseArgs } from 'node:util'
import { describeFair, FAIR_SCENE, simulateFair } from '../test/simulation/fair.ts'
import { simulateQuota, type Report } from '../test/simulation/quota-simulation.ts'

const USAGE = [
  'Usage: npm run sim -- --seed N [--days D]',
  '       npm run sim -- --fair [--seed N] [--days D] [--processes P] [--athletes A]',
  'N is a whole number from 0 on, D from 1 to 30, P from 1 to 9, A from 2 to 500.',
].join('\n')
const FAIR_SEED = 1
const FAIR_PROCESSES = [1, 3]

interface Asked {
  readonly seed: number
  readonly days: number
}

interface FairAsked extends Asked {
  readonly athletes: number
  /** One simulation for each. */
  readonly processes: readonly number[]
}

const OPTIONS = {
  fair: { type: 'boolean', default: false },
  seed: { type: 'string' },
  days: { type: 'string' },
  processes: { type: 'string' },
  athletes: { type: 'string' },
} as const

/** From the least to the most that each may be. */
const RANGES = { seed: [0, 2 ** 32], days: [1, 30], processes: [1, 9], athletes: [2, 500] } as const
type Numbers = Partial<Record<keyof typeof RANGES, number>>

function asked(args: readonly string[]): Asked | FairAsked | string {
  try {
    const { values } = parseArgs({ args: [...args], options: OPTIONS })
    const numbers = numbersIn(values)
    if (typeof numbers === 'string') return numbers
    if (values.fair) return fairIn(numbers)
    const { seed, days = FAIR_SCENE.days, ...more } = numbers
    if (Object.keys(more).length > 0) return 'Athletes and processes are for --fair.'
    return seed === undefined ? 'A simulation needs a seed.' : { seed, days }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function numbersIn(values: Readonly<Record<string, string | boolean | undefined>>): Numbers | string {
  const numbers: Numbers = {}
  for (const [name, [least, most]] of Object.entries(RANGES) as [keyof typeof RANGES, readonly [number, number]][]) {
    const text = values[name]
    if (text === undefined) continue
    const number = /^\d{1,10}$/.test(String(text)) ? Number(text) : Number.NaN
    if (!(number >= least && number <= most)) return `--${name} cannot be ${String(text)}.`
    numbers[name] = number
  }
  return numbers
}

const fairIn = ({ seed = FAIR_SEED, days = FAIR_SCENE.days, athletes = FAIR_SCENE.athletes, processes }: Numbers): FairAsked => ({
  seed,
  days,
  athletes,
  processes: processes === undefined ? FAIR_PROCESSES : [processes],
})

async function quota({ seed, days }: Asked): Promise<boolean> {
  const report = await simulateQuota(seed, { days })
  console.log(describe(report))
  return concluded(report.violations, `--seed ${seed} --days ${days}`)
}

async function fair({ seed, days, athletes, processes }: FairAsked): Promise<boolean> {
  let isFair = true
  for (const count of processes) {
    const report = await simulateFair({ ...FAIR_SCENE, seed, days, athletes, processes: count })
    console.log(describeFair(report).join('\n'))
    const again = `--fair --seed ${seed} --days ${days} --athletes ${athletes} --processes ${count}`
    isFair = concluded(report.violations, again) && isFair
  }
  return isFair
}

function concluded(violations: readonly string[], again: string): boolean {
  for (const violation of violations) console.error(`broken: ${violation}`)
  if (violations.length > 0) console.error(`An invariant is broken: npm run sim -- ${again}`)
  return violations.length === 0
}

function describe({ traits, summary }: Report): string {
  const { seed, days, processes, isCalm, hasCache, neighbour } = traits
  const server = hasCache ? 'a budget server' : 'the ledger alone'
  return [
    `seed ${seed}: ${days} days, ${processes} processes, ${server}, ${isCalm ? 'calm' : 'rough'} network, neighbour: ${neighbour}`,
    `calls ${summary.calls}, the neighbour's ${summary.neighbour}, over the limit ${summary.overLimit} (ours ${summary.ourOverLimit})`,
    `most in a quarter ${summary.quarterMax} of ${traits.limit}, in a day ${Math.max(0, ...summary.dayTotals)} of ${traits.dayLimit}`,
    `restarts ${summary.restarts}, wipes ${summary.wipes}, absences ${summary.absences}`,
  ].join('\n')
}

const order = asked(process.argv.slice(2))
if (typeof order === 'string') {
  console.error(`${order}\n${USAGE}`)
  process.exitCode = 2
} else {
  const isWell = await ('athletes' in order ? fair(order) : quota(order))
  process.exitCode = isWell ? 0 : 1
}
