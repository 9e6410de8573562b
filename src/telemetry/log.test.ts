import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { inspect, promisify } from 'node:util'
import * as fc from 'fast-check'
import { openLog, type Log } from './log.ts'
import { runs } from '../../test/runs.ts'

function record(pretty = false): { log: Log; lines: string[] } {
  const lines: string[] = []
  return { log: openLog({ level: 'trace', pretty, destination: { write: line => void lines.push(line) } }), lines }
}

test('a line is JSON with the time in ISO, the level as a word and the message', () => {
  const { log, lines } = record()
  log.info({ route: '/healthz' }, 'answered %d', 200)
  const line = JSON.parse(lines[0] ?? '') as Record<string, unknown>
  assert.deepEqual([line.level, line.route, line.msg], ['info', '/healthz', 'answered 200'])
  assert.match(String(line.time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert(lines[0]?.endsWith('}\n'))
})

test('an error is told with its code, its causes and their stacks', () => {
  const { log, lines } = record()
  log.error({ err: Object.assign(new Error('outer', { cause: new RangeError('inner') }), { code: 'ECONNRESET' }) }, 'failed')
  const { err } = JSON.parse(lines[0] ?? '') as { err: Record<string, string> }
  assert.deepEqual([err.message, err.code], ['outer: inner', 'ECONNRESET'])
  assert.match(err.stack ?? '', /outer[^]*caused by: RangeError: inner/)
})

test('readable lines are for people: level, message and fields without the machine’s', () => {
  const { log, lines } = record(true)
  log.warn({ where: 'bell', token: 'hush' }, 'late')
  assert.match(lines.join(''), /WARN.*late[^]*where.*bell/)
  assert.doesNotMatch(lines.join(''), /hush|hostname/)
})

test('a request is one line on a terminal too', () => {
  const { log, lines } = record(true)
  log.info({ id: 'r1', method: 'GET', route: '/v1/quota', status: 200, durationMs: 3.2 }, 'request')
  assert.match(lines.join(''), /^.*request.*GET.*\/v1\/quota.*200.*\n$/)
})

const MODULE = fileURLToPath(new URL('./log.ts', import.meta.url))
const script = (pretty: boolean): string[] => [
  '--input-type=module',
  '-e',
  `const { openLog } = await import(process.argv[1])
   const log = openLog({ level: 'info', pretty: ${pretty} })
   for (let count = 1; count <= 2000; count++) log.info('line %d', count)
   process.exit(3)`,
  MODULE,
]

test('nothing is lost when the process ends at once', async () => {
  for (const pretty of [false, true]) {
    const ended = promisify(execFile)(process.execPath, script(pretty), { maxBuffer: 1 << 24 })
    await assert.rejects(ended, ({ code, stdout }: { code: number; stdout: string }) => {
      assert.equal(code, 3)
      assert.equal(stdout.trimEnd().split('\n').length, 2000)
      return true
    })
  }
})

test('a stdout that takes nothing does not stop the process', () => {
  const readOnly = openSync(MODULE, 'r')
  const { status, stderr } = spawnSync(process.execPath, script(false), { stdio: ['ignore', readOnly, 'pipe'] })
  closeSync(readOnly)
  assert.deepEqual([status, stderr.toString()], [3, ''])
})

const NAMES = [
  'token',
  'access_token',
  'refreshToken',
  'code',
  'client_secret',
  'Authorization',
  'set-cookie',
  'cookie',
  'password',
  'X-Api-Key',
]
const MARK = 'hush7391'

/** How a secret comes into a text. */
const DRESSES: readonly ((name: string, secret: string) => string)[] = [
  (name, secret) => `GET https://vendor.org/path?page=1&${name}=${encodeURIComponent(secret)}&x=1 failed`,
  (name, secret) => `/callback?${new URLSearchParams({ state: 'x', [name]: secret }).toString()}`,
  (_, secret) => `cannot reach https://user:${encodeURIComponent(secret)}@vendor.org/path`,
  (_, secret) => `cannot reach redis://:${encodeURIComponent(secret)}@cache:6379`,
  (_, secret) => `sent Authorization: Bearer ${encodeURIComponent(secret)} to it`,
  (_, secret) => `Bearer ${encodeURIComponent(secret)}`,
  (name, secret) => `${name}: ${encodeURIComponent(secret)}`,
  (name, secret) => `answered ${JSON.stringify({ id: 1, [name]: secret, x: 2 })}`,
  (name, secret) => JSON.stringify({ outer: JSON.stringify({ [name]: encodeURIComponent(secret) }) }),
  (name, secret) => inspect({ [name]: secret }, { breakLength: Infinity }),
]

/** How a text comes into the log. */
const CARRIERS: readonly ((log: Log, text: string) => void)[] = [
  (log, text) => log.info(text),
  (log, text) => log.info('%s', text),
  (log, text) => log.info({ list: [{ text }] }, 'x'),
  (log, text) => log.child({ text }).info('x'),
  (log, text) => log.error(new Error(text)),
  (log, text) => log.error({ err: new Error('outer', { cause: new Error('middle', { cause: new Error(text) }) }) }, 'x'),
  (log, text) => log.error({ err: Object.assign(new Error('x'), { response: { text } }) }),
  (log, text) => log.error({ err: new AggregateError([new Error(text)], 'many') }),
]

const secrets = fc
  .tuple(fc.string({ maxLength: 10 }), fc.string({ maxLength: 30 }))
  .map(([before, after]) => before + MARK + after)

test('a secret in a text never comes out, however it is dressed and carried', () => {
  const anywhere = fc.tuple(fc.constantFrom(...DRESSES), fc.constantFrom(...CARRIERS), fc.constantFrom(...NAMES), fc.boolean())
  fc.assert(
    fc.property(secrets, anywhere, (secret, [dress, carry, name, pretty]) => {
      const { log, lines } = record(pretty)
      carry(log, dress(name, secret))
      assert.equal(lines.length, 1)
      assert.doesNotMatch(lines.join(), new RegExp(MARK))
    }),
    { numRuns: runs(500, 1_500) },
  )
})

const nested = fc.array(fc.oneof(fc.constantFrom('req', 'err', 'headers', 'answer'), fc.nat({ max: 2 })), { maxLength: 4 })

const wrap = (inner: unknown, step: string | number): unknown =>
  typeof step === 'number' ? [1, inner] : { id: 1, [step]: inner }

test('a secret under a telling name never comes out, at any depth, from fields, bindings or errors', () => {
  const value = fc.oneof(
    secrets,
    secrets.map(secret => [secret]),
    secrets.map(secret => ({ deep: secret })),
  )
  fc.assert(
    fc.property(nested, fc.constantFrom(...NAMES, 'body', 'rawBody', 'payload'), value, (path, name, secret) => {
      const payload = path.reduceRight(wrap, { [name]: secret }) as object
      const { log, lines } = record()
      log.info(payload, 'x')
      log.child({ payload }).info('x')
      log.error(Object.assign(new Error('x'), { payload, ...payload }))
      assert.equal(lines.length, 3)
      assert.doesNotMatch(lines.join(), new RegExp(MARK))
    }),
    { numRuns: runs(200, 500) },
  )
})
