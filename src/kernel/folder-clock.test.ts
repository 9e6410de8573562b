import { afterEach, beforeEach, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { VirtualClock, type Clock } from './clock.ts'
import { folderClock } from './folder-clock.ts'

const HOUR_MS = 3_600_000
const START = Date.UTC(2026, 0, 1)

describe('the clock of a data folder', () => {
  let folder = ''
  let real: VirtualClock
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'paceline-clock-'))
    real = new VirtualClock(START)
  })
  afterEach(() => {
    rmSync(folder, { recursive: true })
  })
  const pass = async (ms: number): Promise<void> => await real.runUntil(real.sleep(ms))
  const open = (speed?: number, anchor?: number): Clock => folderClock(real, { folder, speed, anchor })

  test('at speed 1 it is the real clock', async () => {
    await pass(HOUR_MS)
    assert.equal(open(1).now(), START + HOUR_MS)
  })

  test('a new folder begins at the real time and goes on from there after a restart', async () => {
    assert.equal(open(60).now(), START)
    await pass(HOUR_MS)
    assert.equal(open(60).now(), START + 60 * HOUR_MS)
  })

  test('without a speed it lives on as it has', async () => {
    assert.equal(open().speed, 1)
    open(60)
    await pass(HOUR_MS)
    assert.equal(open().now(), START + 60 * HOUR_MS)
  })

  test('a given anchor makes two processes agree', async () => {
    const anchor = START - HOUR_MS
    const server = open(60, anchor)
    await pass(HOUR_MS)
    assert.equal(server.now(), anchor + 2 * 60 * HOUR_MS)
    assert.equal(open(60, anchor).now(), server.now())
  })

  test('another speed goes on without a step backwards', async () => {
    for (const speed of [60, 120, 30, 60]) {
      const before = open(speed)
      await pass(HOUR_MS)
      const reached = before.now()
      const after = open(speed === 60 ? 90 : 60)
      assert(after.now() >= reached && after.now() < reached + 1_000, `${after.now() - reached} ms apart`)
      await pass(HOUR_MS)
    }
  })

  test('a speed at which time would run backwards is refused, and changes nothing', async () => {
    open(60)
    await pass(HOUR_MS)
    const kept = readFileSync(join(folder, 'clock.json'), 'utf8')
    assert.throws(() => open(1), {
      code: 'PACE_CLOCK_BACKWARDS',
      message: /lived at speed 60 and its time is 2026-01-03T12:00:00\.000Z.*--speed 60/,
    })
    assert.throws(() => open(60, START + HOUR_MS), { code: 'PACE_CLOCK_BACKWARDS' })
    assert.equal(readFileSync(join(folder, 'clock.json'), 'utf8'), kept)
  })
})
