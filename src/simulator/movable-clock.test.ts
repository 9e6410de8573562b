import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SystemClock, VirtualClock } from '../kernel/clock.ts'
import { MovableClock } from './movable-clock.ts'

const HOUR_MS = 3_600_000

test('a push moves now at once and wakes whoever has slept long enough', async () => {
  const clock = new MovableClock(new SystemClock())
  const woken: string[] = []
  const short = clock.sleep(HOUR_MS).then(() => woken.push('short'))
  const stop = new AbortController()
  const long = clock.sleep(3 * HOUR_MS, stop.signal)
  const before = clock.now()
  clock.advance(2 * HOUR_MS)
  assert(clock.now() - before >= 2 * HOUR_MS)
  await short
  assert.deepEqual(woken, ['short'])
  stop.abort(new Error('enough'))
  await assert.rejects(long, /enough/)
})

test('unpushed it is its base', async () => {
  const base = new VirtualClock(1000)
  const clock = new MovableClock(base)
  await base.runUntil(clock.sleep(500))
  assert.deepEqual([clock.now(), clock.realAt(2000)], [1500, 2000])
  clock.advance(100)
  assert.deepEqual([clock.now(), clock.realAt(2000)], [1600, 1900])
})
