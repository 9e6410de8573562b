// `npm test`, `npm run test:fast` and `npm run test:long`: runs every step, says in a line how each went, and ends with 0 only
// if everything ran and passed. Steps run side by side, so that no processor waits for another's. A later step is run also after a
// failed one, but without its servers nothing is: half a run looks too much like a whole one.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { everyProgram, folderOf, programs } from '../test/servers/programs.ts'
import { provideServers } from './servers.ts'
import { endWhenSilent } from './silence.ts'
import { isComplaint, SIGN_OF_LIFE } from './test-complaints.ts'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

const GROUPS = {
  unit: 'src/**/*.test.ts',
  tidy: 'test/tidy/**/*.test.ts',
  contract: 'test/contract/**/*.test.ts',
  distributed: 'test/distributed/**/*.test.ts',
  simulation: 'test/simulation/**/*.test.ts',
  e2e: 'test/e2e/**/*.test.ts',
  browser: 'test/browser/**/*.test.ts',
  long: 'test/long/**/*.test.ts',
}

interface TestRun {
  readonly groups: readonly (keyof typeof GROUPS)[]
  /** Files at a time, each in a process of its own; one: all files in one process, which loads everything once. */
  readonly concurrency: number
  readonly needsServers: boolean
  /** Optimising the embedded store's WebAssembly costs short tests more than it gives them; long ones gain. */
  readonly optimises: boolean
  /**
   * As long as no test takes on any machine: a run in which none begins or ends meanwhile turns round and round. One that does nothing
   * is the watchdog's business, test/servers/watchdog.ts. How long a test or a run may take is not limited: the machine may be busy.
   */
  readonly silenceMs: number
}

const MINUTE_MS = 60_000
// One process each, side by side: starting the embedded store anew for every file took longer than the tests themselves.
const UNIT: TestRun = {
  groups: ['unit', 'tidy'],
  concurrency: 1,
  needsServers: false,
  optimises: false,
  silenceMs: 30 * MINUTE_MS,
}
const CONTRACT: TestRun = { ...UNIT, groups: ['contract'] }
const SIMULATION: TestRun = { ...UNIT, groups: ['simulation'], optimises: true }
// Three at a time: these files wait for real time to pass more than they work, and each has a process of its own to kill or to stop.
const WITH_SERVERS: TestRun = {
  ...UNIT,
  groups: ['distributed', 'e2e', 'browser'],
  concurrency: 3,
  needsServers: true,
}
const LONG: TestRun = { ...WITH_SERVERS, groups: ['long'], optimises: true, silenceMs: 6 * 60 * MINUTE_MS }

const environment = {
  ...process.env,
  PATH: `${resolve('node_modules/.bin')}${delimiter}${process.env.PATH}`,
  // Each test file is a process of its own, and most load the same modules.
  NODE_COMPILE_CACHE: resolve('node_modules/.cache/paceline/compiled'),
  // test/runs.ts: how many cases properties try.
  ...(process.argv[2] === 'long' && { PACELINE_TEST_LONG: '1' }),
}
const children = new Set<ChildProcess>()
let isInterrupted = false
/** What a reader of a good result must know. */
const remarks: string[] = []

/** What is wrong, a line each; nothing when all is well. */
type Complaints = readonly string[]

async function main(mode: string | undefined): Promise<number> {
  if (mode !== 'fast' && mode !== 'all' && mode !== 'long') {
    console.error('usage: node scripts/test.ts fast|all|long')
    return 2
  }
  if (mode !== 'fast') {
    const missing = await step('servers', () => servers(mode))
    if (missing.length > 0) return conclude(missing)
  }
  const complaints = [
    ...(mode === 'fast' ? await quick() : await everything()),
    ...(mode === 'long' ? await step('long tests', () => nodeTest(LONG)) : []),
    ...(mode === 'long' ? await step('alerts', alerts) : []),
    ...(mode === 'long' ? await step('audit', audit) : []),
  ]
  return conclude(complaints)
}

async function step(name: string, work: () => Promise<Complaints>): Promise<Complaints> {
  if (isInterrupted) return [`${name}: interrupted`]
  const startedAt = performance.now()
  const complaints = await work()
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(`${complaints.length === 0 ? '✔' : '✖'} ${name} (${seconds} s)`)
  return complaints.map(complaint => `${name}: ${complaint}`)
}

function conclude(complaints: Complaints): number {
  if (complaints.length === 0) console.log(['\nEverything ran and passed.', ...remarks].join('\n'))
  else console.error(`\nNot good:\n${complaints.map(complaint => `  ${complaint}`).join('\n')}`)
  return complaints.length === 0 ? 0 : 1
}

async function servers(mode: 'all' | 'long'): Promise<Complaints> {
  const provision = await provideServers(mode === 'long' ? { needed: everyProgram } : {})
  return provision.outcome === 'ready' ? [] : provision.sentences
}

/** Shows what the command says only when it fails. */
async function command(name: string, args: readonly string[]): Promise<Complaints> {
  const child = begun(spawn(name, args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] }))
  const [[code], out, err] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)])
  if (code === 0) return []
  console.error(`${out}${err}`.trim())
  return [`${name} found something; its lines are above`]
}

/** What ends with us. */
function begun<C extends ChildProcess>(child: C): C {
  children.add(child)
  child.once('close', () => children.delete(child))
  return child
}

/** What works all the time beside what mostly waits: neither processor is idle. */
async function everything(): Promise<Complaints> {
  const found = await Promise.all([
    step('distributed, end-to-end and browser tests', () => nodeTest(WITH_SERVERS, { aside: true })),
    withoutServers(),
  ])
  return found.flat()
}

async function withoutServers(): Promise<Complaints> {
  return [...(await quick()), ...(await step('simulations', () => nodeTest(SIMULATION)))]
}

async function quick(): Promise<Complaints> {
  const found = await Promise.all([
    looks(),
    step('contract tests', () => nodeTest(CONTRACT, { aside: true })),
    step('unit and tidy tests', () => nodeTest(UNIT)),
  ])
  return found.flat()
}

/** What can be seen without running anything. */
async function looks(): Promise<Complaints> {
  return [
    ...(await step('types', () => command('tsc', ['-p', '.']))),
    ...(await step('format', () => command('oxfmt', ['--check']))),
    ...(await step('lint', () => command('oxlint', []))),
  ]
}

/** `aside`: another run has the terminal; what this one says is shown when it has ended. */
async function nodeTest(run: TestRun, { aside = false } = {}): Promise<Complaints> {
  const { files, complaints } = filesOf(run)
  if (files.length === 0) {
    remarks.push(`There are no ${run.groups.join(', ')} tests.`)
    return complaints
  }
  const child = begun(
    spawn('node', [...nodeTestFlags(run), ...files], {
      env: environment,
      stdio: ['inherit', aside ? 'pipe' : 'inherit', 'pipe'],
    }),
  )
  const silence = endWhenSilent(child, run.silenceMs)
  const [[code, signal], out, errors] = await Promise.all([
    once(child, 'close'),
    child.stdout === null ? '' : text(child.stdout),
    child.stderr === null ? '' : text(child.stderr),
  ])
  process.stdout.write(out)
  const lines = errors.split('\n').filter(line => line !== '' && line !== SIGN_OF_LIFE)
  const found = [...complaints, ...silence(), ...lines.filter(isComplaint)]
  // Not the tests' own words, which the reporters have, but the runner's: that the servers did not start, for example.
  for (const line of lines) if (!isComplaint(line)) console.error(line)
  return code === 0 || found.length > 0 ? found : [`node --test ended with ${code ?? signal}`]
}

/** Counted here, because node --test is content with a pattern that matches nothing. There need not be long tests. */
function filesOf({ groups }: TestRun): { files: readonly string[]; complaints: Complaints } {
  const found = groups.map(group => ({ group, files: globSync(GROUPS[group]).toSorted() }))
  const empty = found.filter(({ group, files }) => files.length === 0 && group !== 'long')
  return {
    files: found.flatMap(({ files }) => files),
    complaints: empty.map(({ group }) => `no file matches ${GROUPS[group]}`),
  }
}

const nodeTestFlags = (run: TestRun): readonly string[] => [
  // In MB. The default keeps the collector busy for a tenth of a run: tests make much that they soon drop.
  '--max-semi-space-size=128',
  '--import=./test/servers/watchdog.ts',
  '--test',
  ...(run.concurrency === 1 ? ['--test-isolation=none'] : [`--test-concurrency=${run.concurrency}`]),
  ...(run.optimises ? [] : ['--liftoff-only']),
  ...(run.needsServers ? ['--test-global-setup=test/servers/global-setup.ts'] : []),
  '--test-reporter=spec',
  '--test-reporter-destination=stdout',
  '--test-reporter=./scripts/test-complaints.ts',
  '--test-reporter-destination=stderr',
]

/** That the rules are rules, and that each fires when it should. */
async function alerts(): Promise<Complaints> {
  const promtool = process.env[programs.promtool.variable] || join(folderOf('promtool'), 'promtool')
  return [
    ...(await command(promtool, ['check', 'rules', 'deploy/alerts.yml'])),
    ...(await command(promtool, ['test', 'rules', 'deploy/alerts.test.yml'])),
  ]
}

interface AuditReport {
  readonly message?: string
  readonly metadata?: { readonly vulnerabilities: Readonly<Record<'high' | 'critical', number>> }
}

/** A registry that does not answer is no finding; it is said and the run goes on. */
async function audit(): Promise<Complaints> {
  const child = begun(spawn('npm', ['audit', '--omit=dev', '--json'], { env: environment, stdio: ['ignore', 'pipe', 'inherit'] }))
  const report: AuditReport = JSON.parse(await text(child.stdout))
  if (report.metadata === undefined) {
    remarks.push(`Except the audit, because the registry did not answer: ${report.message ?? 'it gave no reason'}`)
    return []
  }
  const { high, critical } = report.metadata.vulnerabilities
  return high + critical === 0 ? [] : [`${high} high and ${critical} critical vulnerabilities: npm audit --omit=dev lists them`]
}

// The child ends by the same signal, in its own way: node --test stops its servers.
function interrupt(signal: NodeJS.Signals): void {
  isInterrupted = true
  for (const child of children) child.kill(signal)
}

process.on('SIGINT', interrupt).on('SIGTERM', interrupt)
process.exitCode = await main(process.argv[2])
