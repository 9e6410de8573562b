// `npm run bench -- <name>`: runs one benchmark of bench/, prints its table and, last, one line of JSON with the ratio of
// what was measured to its reference in the same run. Machines are noisy: ratios travel, seconds do not.
import { globSync } from 'node:fs'
import { basename } from 'node:path'

export interface Measured {
  readonly what: string
  readonly value: number
  readonly unit: string
}

export interface Bench {
  readonly ours: Measured
  readonly reference: Measured
  /** Figures beside the ratio. */
  readonly also?: readonly Measured[]
}

const [, , name = ''] = process.argv
const names = globSync('bench/*.ts')
  .map(file => basename(file, '.ts'))
  .toSorted()
if (!names.includes(name)) {
  process.stderr.write(`Usage: npm run bench -- <name>, one of: ${names.join(', ')}\n`)
  process.exit(2)
}
const { run } = (await import(`../bench/${name}.ts`)) as { run: () => Promise<Bench> }
const { ours, reference, also = [] } = await run()
const rows = [ours, reference, ...also].map(({ what, value, unit }) => ({ what, value: Number(value.toPrecision(4)), unit }))
console.table(rows)
process.stdout.write(`${JSON.stringify({ bench: name, ratio: Number((ours.value / reference.value).toPrecision(3)), rows })}\n`)
