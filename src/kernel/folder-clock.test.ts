import { afterEach, beforeEach, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import fs, { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HOUR_MS } from './durations.ts'
import { VirtualClock, type Clock } from './clock.ts'
import { folderClock } from './folder-clock.ts'

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

  test('of two that start on a new folder at the same time, both have the time of the first', t => {
    // The second one saw no file; the first, a second later by its own clock, finishes before it writes its own.
    const { writeFileSync: write } = fs
    let first: Clock | undefined
    t.mock.method(fs, 'writeFileSync', (...args: Parameters<typeof write>) => {
      t.mock.restoreAll()
      syncBuiltinESMExports()
      first = folderClock(new VirtualClock(START + 1000), { folder, speed: 60 })
      write(...args)
    })
    syncBuiltinESMExports()
    const second = open(60)
    assert.equal(first?.realAt(START + HOUR_MS), second.realAt(START + HOUR_MS))
    assert.deepEqual(readdirSync(folder), ['clock.json'])
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
    assert.equal(readFileSync(join(folder, 'clock.json'), 'utf8'), kept)
  })

  test('a given anchor at which time would run backwards is named, and changes nothing', async () => {
    open(60)
    await pass(HOUR_MS)
    const kept = readFileSync(join(folder, 'clock.json'), 'utf8')
    const message = /its time is 2026-01-03T12:00:00\.000Z; with this PACELINE_CLOCK_ANCHOR it would run backwards/
    assert.throws(() => open(60, START + HOUR_MS), { code: 'PACE_CLOCK_BACKWARDS', message })
    // At speed 1 no anchor would help.
    assert.throws(() => open(1, START), { code: 'PACE_CLOCK_BACKWARDS', message: /--speed 60/ })
    assert.equal(readFileSync(join(folder, 'clock.json'), 'utf8'), kept)
  })

  test('what has not changed is not written again', async () => {
    const file = join(folder, 'clock.json')
    open(60)
    const { ino } = statSync(file)
    await pass(HOUR_MS)
    for (const speed of [60, undefined]) {
      open(speed)
      assert.equal(statSync(file).ino, ino)
    }
    open(90)
    assert.notEqual(statSync(file).ino, ino)
  })

  test('a damaged file is told in a sentence that names it, and is not replaced', () => {
    const file = join(folder, 'clock.json')
    const anchor = new Date(START).toISOString()
    const wrong = [
      null,
      [],
      {},
      { speed: 60 },
      { anchor },
      { speed: '60', anchor },
      { speed: 0, anchor },
      { speed: 60, anchor: START },
    ]
    for (const text of ['', '{"spe', ...[...wrong, { speed: 60, anchor: 'noon' }].map(value => JSON.stringify(value))]) {
      writeFileSync(file, text)
      const message = new RegExp(`^The clock of the data folder in ${file} cannot be read: [^\n]+$`)
      assert.throws(() => open(), { code: 'PACE_CONFIG', message }, text)
      assert.equal(readFileSync(file, 'utf8'), text)
    }
  })
})
