// `npm run bench -- <name>`: runs one benchmark of bench/, prints its table and, last, one line of JSON with the ratio of
// what was measured to its reference in the same run. Machines are noisy: ratios travel, seconds do not. The programs that this
// benchmark needs are found, installed or named first, as `npm test` does it.
import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { ProgramName } from '../test/servers/programs.ts'
import { provideServers, type Provision } from './servers.ts'

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

export interface BenchOptions {
  /** The largest size too, where it takes minutes. */
  readonly large?: boolean
}

/** What a file of bench/ exports. */
interface BenchFile {
  /** What is measured, beside what, in a line. */
  readonly about: string
  readonly needs?: readonly ProgramName[]
  readonly run: (options: BenchOptions) => Promise<Bench>
}

const USAGE = 'npm run bench -- <name> [--large]'

export const benchNames = (): readonly string[] =>
  globSync('*.ts', { cwd: fileURLToPath(new URL('../bench', import.meta.url)) })
    .map(file => basename(file, '.ts'))
    .toSorted()

/** `provide` is a parameter for the test of what is said where a program is missing. */
export async function bench(
  args: readonly string[],
  provide: (needed: readonly ProgramName[]) => Promise<Provision> = needed => provideServers({ needed }),
): Promise<number> {
  const asked = askedIn(args)
  if (asked === 'help') return await help()
  if ('wrong' in asked) return refuse([asked.wrong], 2)
  const { run, needs = [] } = await load(asked.name)
  const provision = await provide(needs)
  if (provision.outcome === 'missing') return refuse(provision.sentences, 1)
  show(asked.name, await run({ large: asked.large }))
  return 0
}

function refuse(sentences: readonly string[], exitCode: number): number {
  for (const sentence of sentences) console.error(sentence)
  return exitCode
}

type Asked = 'help' | { readonly name: string; readonly large: boolean } | { readonly wrong: string }

function askedIn(args: readonly string[]): Asked {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { help: { type: 'boolean', short: 'h' }, large: { type: 'boolean' } },
    allowPositionals: true,
    strict: false,
  })
  const [name, ...more] = positionals
  const unknown = Object.keys(values).find(option => option !== 'help' && option !== 'large')
  const names = benchNames()
  if (unknown !== undefined) return { wrong: `There is no option ${unknown}: ${USAGE}, or --help.` }
  if (values['help'] === true) return 'help'
  if (name === undefined || more.length > 0) return { wrong: `Name one benchmark: ${USAGE}, one of ${names.join(', ')}.` }
  const large = values['large'] === true
  return names.includes(name)
    ? { name, large }
    : { wrong: `There is no benchmark ${name}: ${USAGE}, one of ${names.join(', ')}.` }
}

const load = async (name: string): Promise<BenchFile> => (await import(`../bench/${name}.ts`)) as BenchFile

async function help(): Promise<number> {
  const names = benchNames()
  const widest = Math.max(...names.map(name => name.length))
  const lines = await Promise.all(names.map(async name => `  ${name.padEnd(widest)}  ${lineOf(await load(name))}`))
  console.log([`Usage: ${USAGE}`, '', ...lines].join('\n'))
  return 0
}

const lineOf = ({ about, needs = [] }: BenchFile): string => (needs.length === 0 ? about : `${about} (needs ${needs.join(', ')})`)

function show(name: string, { ours, reference, also = [] }: Bench): void {
  const rows = [ours, reference, ...also].map(({ what, value, unit }) => ({ what, value: Number(value.toPrecision(4)), unit }))
  console.table(rows)
  console.log(JSON.stringify({ bench: name, ratio: Number((ours.value / reference.value).toPrecision(3)), rows }))
}

if (import.meta.main) process.exitCode = await bench(process.argv.slice(2))
