// What a person reads on a machine without the servers, and what counts as having them.
import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { bench, benchNames } from '../../scripts/bench.ts'
import { provideServers, type Provision } from '../../scripts/servers.ts'
import { everyProgram, findFolder, missingPrograms, missingSentence, type ProgramName } from '../servers/programs.ts'

const nowhere = { environment: { PATH: '' }, folders: [] }

test('a person who is not root reads exactly what to install or which variable to set', async () => {
  const provision = await provideServers({ places: () => nowhere, isRoot: false })
  assert.deepEqual(provision, {
    outcome: 'missing',
    sentences: [
      'PostgreSQL 15 or newer is missing: install it, so that postgres and initdb can be found in PATH (Debian: apt-get install postgresql), or set PACELINE_TEST_POSTGRES_URL to the postgres:// address of a running one, as a user who may create databases.',
      'Redis is missing: install it, so that redis-server can be found in PATH (Debian: apt-get install redis-server), or set PACELINE_TEST_REDIS_URL to the redis:// address of a running one.',
      'NATS server is missing: install it, so that nats-server can be found in PATH (Debian: apt-get install nats-server), or set PACELINE_TEST_NATS_URL to the nats:// address of a running one with JetStream.',
      'Chromium is missing: install it, so that chromium can be found in PATH (Debian: apt-get install chromium), or set PACELINE_TEST_CHROMIUM to the path of its executable (Chrome will do).',
    ],
  })
})

test('only what is needed is asked for', async () => {
  const missing = await provideServers({ needed: ['nats'], places: () => nowhere, isRoot: false })
  assert.deepEqual(missing, { outcome: 'missing', sentences: [missingSentence('nats')] })
  assert.deepEqual(await provideServers({ needed: [], places: () => nowhere, isRoot: false }), {
    outcome: 'ready',
    installed: [],
  })
})

test('the long run asks for promtool too', async () => {
  const everyRun = await provideServers({ places: () => nowhere, isRoot: false })
  const missing = await provideServers({ needed: everyProgram, places: () => nowhere, isRoot: false })
  assert(everyRun.outcome === 'missing' && missing.outcome === 'missing')
  assert.deepEqual(missing.sentences, [
    ...everyRun.sentences,
    "Prometheus' promtool is missing: install it, so that promtool can be found in PATH (Debian: apt-get install prometheus), or set PACELINE_TEST_PROMTOOL to the path of its executable.",
  ])
})

const onBareMachine = (needed: readonly ProgramName[]): Promise<Provision> =>
  provideServers({ needed, places: () => nowhere, isRoot: false })

/** How a benchmark ends and what it says on either channel. */
async function benched(t: TestContext, ...args: string[]): Promise<{ code: number; out: unknown[]; err: unknown[] }> {
  const [out, err] = [t.mock.method(console, 'log', () => undefined), t.mock.method(console, 'error', () => undefined)]
  const code = await bench(args, onBareMachine)
  const said = [out, err].map(({ mock }) => mock.calls.map(call => call.arguments[0] as unknown))
  t.mock.restoreAll()
  return { code, out: said[0] ?? [], err: said[1] ?? [] }
}

test('a benchmark without its programs says which are missing, a sentence each, and does not begin', async t => {
  assert.deepEqual(await benched(t, 'streams'), { code: 1, out: [], err: [missingSentence('postgres')] })
  const needs = [missingSentence('postgres'), missingSentence('redis')]
  assert.deepEqual(await benched(t, 'quota'), { code: 1, out: [], err: needs })
})

test('a benchmark that is not named, or wrongly, is wrong usage in a sentence that names them all', async t => {
  const all = `npm run bench -- <name> [--large], one of ${benchNames().join(', ')}.`
  assert.deepEqual(await benched(t), { code: 2, out: [], err: [`Name one benchmark: ${all}`] })
  assert.deepEqual(await benched(t, 'store', 'shape'), { code: 2, out: [], err: [`Name one benchmark: ${all}`] })
  assert.deepEqual(await benched(t, 'nonsense'), { code: 2, out: [], err: [`There is no benchmark nonsense: ${all}`] })
  const wrong = 'There is no option fast: npm run bench -- <name> [--large], or --help.'
  assert.deepEqual(await benched(t, 'store', '--fast'), { code: 2, out: [], err: [wrong] })
})

test('--help has a line for each benchmark that says what it measures', async t => {
  const { code, out, err } = await benched(t, '--help')
  assert.deepEqual([code, err], [0, []])
  for (const name of benchNames()) assert.match(String(out[0]), new RegExp(`^  ${name} +\\w.{20,}, beside .{5,}$`, 'm'))
})

test('a variable that names a running server does for the program', () => {
  const environment = { PATH: '', PACELINE_TEST_REDIS_URL: 'redis://127.0.0.1:1', PACELINE_TEST_CHROMIUM: '/opt/chrome' }
  assert.deepEqual(missingPrograms({ environment, folders: [] }), ['postgres', 'nats'])
})

test('a PostgreSQL that is too old, or has no initdb beside it, is passed over', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'paceline-programs-'))
  try {
    await program(folder, 'postgres', 'postgres (PostgreSQL) 15.13')
    assert.equal(findFolder('postgres', { environment: { PATH: folder }, folders: [] }), undefined)
    await program(folder, 'initdb', 'initdb (PostgreSQL) 15.13')
    assert.equal(findFolder('postgres', { environment: { PATH: folder }, folders: [] }), folder)
    await program(folder, 'postgres', 'postgres (PostgreSQL) 13.9')
    assert.equal(findFolder('postgres', { environment: { PATH: '' }, folders: [folder] }), undefined)
  } finally {
    await rm(folder, { recursive: true })
  }
})

async function program(folder: string, name: string, version: string): Promise<void> {
  await writeFile(join(folder, name), `#!/bin/sh\necho '${version}'\n`)
  await chmod(join(folder, name), 0o755)
}
