// `npm run sim -- --seed N`: three days of the quota in virtual time, the same way each time for a seed. Ends with 0 and a summary, or
// with 1, the seed and what was broken. `--days D` makes it shorter or longer; the rest of the world comes from the seed.
import { parseArgs } from 'node:util'
import { simulateQuota, type Report } from '../test/simulation/quota-simulation.ts'

const USAGE = 'Usage: npm run sim -- --seed N [--days D], N a whole number from 0 on, D from 1 to 30'
const LARGEST_SEED = 2 ** 32
const LONGEST_DAYS = 30

interface Asked {
  readonly seed: number
  readonly days: number
}

function asked(args: readonly string[]): Asked | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { seed: { type: 'string' }, days: { type: 'string', default: '3' } },
    })
    const [seed, days] = [wholeNumber(values.seed), wholeNumber(values.days)]
    if (seed === undefined || seed > LARGEST_SEED) return 'A simulation needs a seed.'
    return days === undefined || days < 1 || days > LONGEST_DAYS ? 'So many days cannot be simulated.' : { seed, days }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

const wholeNumber = (text: string | undefined): number | undefined => (/^\d{1,10}$/.test(text ?? '') ? Number(text) : undefined)

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
  console.error(`${order} ${USAGE}`)
  process.exitCode = 2
} else {
  const report = await simulateQuota(order.seed, { days: order.days })
  console.log(describe(report))
  for (const violation of report.violations) console.error(`broken: ${violation}`)
  if (report.violations.length > 0)
    console.error(`Seed ${order.seed} breaks an invariant: npm run sim -- --seed ${order.seed} --days ${order.days}`)
  process.exitCode = report.violations.length === 0 ? 0 : 1
}
