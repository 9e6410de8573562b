import { test } from 'node:test'
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { VirtualClock } from '../kernel/clock.ts'
import { stopAsked } from './stop-asked.ts'

function asking() {
  const signals = new EventEmitter()
  const clock = new VirtualClock(0)
  let ends = 0
  const stop = stopAsked(signals, clock, () => void ends++)
  return { signals, clock, stop, ends: () => ends }
}

test('one Ctrl-C that comes twice, from the terminal and through npm, is one wish', async () => {
  const { signals, stop, ends } = asking()
  for (let times = 0; times < 2; times++) signals.emit('SIGINT')
  await stop
  assert.equal(ends(), 0)
})

test('a second Ctrl-C a moment later ends the process at once', async () => {
  const { signals, clock, ends } = asking()
  signals.emit('SIGINT')
  await clock.runUntil(clock.sleep(1_000))
  signals.emit('SIGINT')
  assert.equal(ends(), 1)
})

test('another signal ends the process at once', () => {
  const { signals, ends } = asking()
  signals.emit('SIGTERM')
  signals.emit('SIGINT')
  assert.equal(ends(), 1)
})
