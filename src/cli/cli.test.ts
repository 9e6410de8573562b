import { test } from 'node:test'
import assert from 'node:assert/strict'
import { VirtualClock } from '../kernel/clock.ts'
import { runCli, type CliContext } from './cli.ts'

const unasked = (): never => assert.fail('nobody asks for this')

async function failing(error: unknown, ...words: string[]): Promise<{ code: number; out: string; err: string }> {
  const printed = { out: '', err: '' }
  const context: CliContext = {
    version: '0',
    clock: new VirtualClock(0),
    terminal: {
      line: (text, exitCode = 0) => {
        printed.out += `${text}\n`
        return exitCode
      },
      error: text => {
        printed.err += `${text}\n`
      },
    },
    loadConfig: () => {
      throw error
    },
    openEngine: unasked,
    examine: unasked,
    stopAsked: unasked,
  }
  return { code: await runCli(words, context), ...printed }
}

test('a fault of Paceline itself is told with its stack', async () => {
  const { code, err } = await failing(new TypeError('no such thing'), 'status')
  assert.equal(code, 1)
  assert.match(err, /^TypeError: no such thing\n +at /)
})

test('with --json it is JSON like every other failure', async () => {
  const { code, out, err } = await failing(new TypeError('no such thing'), 'status', '--json')
  assert.deepEqual({ code, out }, { code: 1, out: '' })
  assert.deepEqual(JSON.parse(err), { error: 'no such thing', code: 'PACE_INTERNAL' })
})
