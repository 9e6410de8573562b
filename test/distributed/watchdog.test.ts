// What ends a test run: one that hangs, with a sentence, and not one that is slow.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { endWhenSilent } from '../../scripts/silence.ts'

const LOOK_MS = 400
/** More than the watchdog waits for. */
const LONG_MS = 10 * LOOK_MS
const WATCHDOG = import.meta.resolve('../servers/watchdog.ts')

const WORK = `
  const until = performance.now() + ${LONG_MS}
  const turn = () => performance.now() < until && setImmediate(turn)
  turn()`
const HANG = 'setInterval(() => undefined, 1_000_000)'

/** A file's process with the watchdog in it. */
async function watched(program: string): Promise<{ code: number | null; err: string }> {
  const child = spawn(process.execPath, [`--import=${WATCHDOG}`, '--input-type=module', '--eval', program], {
    env: { ...process.env, PACELINE_TEST_LOOK_MS: String(LOOK_MS) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [err] = await Promise.all([text(child.stderr), once(child, 'close')])
  return { code: child.exitCode, err }
}

describe('the watchdog', { concurrency: true }, () => {
  test('ends a file that does nothing and does not end, and says what is open', async () => {
    const { code, err } = await watched(HANG)
    assert.equal(code, 1)
    assert.match(err, / has done nothing for 2 s, and has not ended; still open: .*Timeout/)
  })

  test('leaves a file alone that works, however long it takes', async () => {
    assert.deepEqual(await watched(WORK), { code: 0, err: '' })
  })

  test('leaves a file alone that waits for a program at work', async () => {
    const program = `
      import { spawn } from 'node:child_process'
      spawn(process.execPath, ['--eval', ${JSON.stringify(WORK)}], { stdio: 'inherit' })`
    assert.deepEqual(await watched(program), { code: 0, err: '' })
  })

  test('ends a file that waits beside servers that only tick', async () => {
    const tick = 'setInterval(() => { const until = performance.now() + 4; while (performance.now() < until); }, 100)'
    const program = `
      import { spawn } from 'node:child_process'
      const servers = Array.from({ length: 4 }, () => spawn(process.execPath, ['--eval', ${JSON.stringify(tick)}]))
      process.on('exit', () => servers.forEach(server => server.kill('SIGKILL')))`
    assert.equal((await watched(program)).code, 1)
  })

  test('ends a file that waits for a program that hangs', async () => {
    const program = `
      import { spawn } from 'node:child_process'
      const child = spawn(process.execPath, ['--eval', ${JSON.stringify(HANG)}])
      process.on('exit', () => child.kill('SIGKILL'))`
    assert.equal((await watched(program)).code, 1)
  })
})

describe('a run', () => {
  const run = (silenceMs: number) => {
    const signals: unknown[] = []
    const child = Object.assign(new EventEmitter(), {
      stderr: new PassThrough(),
      kill: (signal: unknown) => signals.push(signal) > 0,
    })
    return { child, signals, said: endWhenSilent(child, silenceMs) }
  }

  test('may take as long as it likes while tests begin and end', async t => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { child, signals, said } = run(60_000)
    for (let sign = 0; sign < 100; sign++) {
      t.mock.timers.tick(59_999)
      const heard = once(child.stderr, 'data')
      child.stderr.write('.\n')
      await heard
    }
    child.emit('close')
    t.mock.timers.tick(60_000)
    assert.deepEqual([signals, said()], [[], []])
  })

  test('is ended, and the reader told why, when none begins or ends any more', t => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { signals, said } = run(60_000)
    t.mock.timers.tick(60_000)
    assert.deepEqual(signals, ['SIGKILL'])
    assert.deepEqual(said(), ['ended, because for 1 min no test began and none ended'])
  })
})
