// The laws of clock.ts on each of its clocks. Where the platform would take weeks or cannot be steered (a step of the
// operating system's time, a timer that fires early), its own functions are replaced for one test.
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { type Clock, ScaledClock, SystemClock, VirtualClock } from './clock.ts'

/** Timers that take no real time and fire `earlyMs` too soon; returns what they were asked for. */
function steeredTimers(t: TestContext, earlyMs: number): number[] {
  let elapsed = 0
  const asked: number[] = []
  t.mock.method(performance, 'now', () => elapsed)
  t.mock.method(globalThis, 'setTimeout', (fire: () => void, ms: number) => {
    asked.push(ms)
    elapsed += ms - earlyMs
    queueMicrotask(fire)
  })
  return asked
}

describe('the system clock', () => {
  test('never runs backwards when the operating system does', t => {
    let os = 5_000
    t.mock.method(Date, 'now', () => os)
    const clock = new SystemClock()
    assert.equal(clock.now(), 5_000)
    os = 1_000
    assert.equal(clock.now(), 5_000)
    os = 5_001
    assert.equal(clock.now(), 5_001)
  })

  test('follows the database, whose answer counts for the middle of the round trip', t => {
    t.mock.method(Date, 'now', () => 1_000)
    const clock = new SystemClock()
    clock.follow(60_000, 900, 1_000)
    assert.equal(clock.now(), 60_050)
    assert.equal(clock.unfollowed(), 1_000)
  })

  test('waits for a database whose time is behind instead of running backwards', t => {
    let os = 1_000
    t.mock.method(Date, 'now', () => os)
    const clock = new SystemClock()
    assert.equal(clock.now(), 1_000)
    clock.follow(400, 1_000, 1_000)
    os = 1_500
    assert.equal(clock.now(), 1_000)
    os = 1_601
    assert.equal(clock.now(), 1_001)
  })

  test('drops an answer that came slowly, and believes a jump only when it is said twice', t => {
    t.mock.method(Date, 'now', () => 100_000)
    const clock = new SystemClock()
    assert(clock.follow(100_010, 100_000, 100_000))
    assert(!clock.follow(100_000, 56_000, 100_000), '44 s behind a long transaction')
    assert.equal(clock.now(), 100_010)
    assert(!clock.follow(160_000, 100_000, 100_000))
    assert(!clock.follow(130_000, 100_000, 100_000), 'another jump')
    assert.equal(clock.now(), 100_010)
    assert(clock.follow(130_100, 100_000, 100_000))
    assert.equal(clock.now(), 130_100)
  })

  test('once it follows, a step of the operating system moves nothing until the database says so, and is told', t => {
    let [os, ticks] = [100_000, 500]
    t.mock.method(Date, 'now', () => os)
    t.mock.method(performance, 'now', () => ticks)
    const clock = new SystemClock()
    let steps = 0
    clock.onStep = () => steps++
    assert(clock.follow(101_000, 100_000, 100_000))
    assert.equal(clock.now(), 101_000)
    for (const [osMs, expected] of [
      [20 * 60_000, 101_010],
      [-20 * 60_000, 101_020],
      [5, 101_035],
    ] as const) {
      os += osMs + 10
      ticks += 10
      assert.equal(clock.now(), expected)
    }
    assert.equal(steps, 2, 'a slew is no step')
    const at = clock.unfollowed()
    assert(!clock.follow(at + 3_600_000, at, at))
    assert(clock.follow(at + 3_600_000, at, at), 'a machine that slept: the database says it twice')
    assert.equal(clock.now(), at + 3_600_000)
  })

  test('takes from a first answer that came slowly no more than it proves', t => {
    t.mock.method(Date, 'now', () => 100_000)
    const [near, far] = [new SystemClock(), new SystemClock()]
    assert(!near.follow(100_000, 56_000, 100_000))
    assert.equal(near.now(), 100_000)
    assert(!far.follow(400_000, 98_000, 100_000))
    assert.equal(far.now(), 400_000)
  })

  test('no sleep ends before its time, as now() counts it', async () => {
    const clock = new SystemClock()
    const sleepOnce = async (ms: number): Promise<number> => {
      const from = clock.now()
      await clock.sleep(ms)
      return clock.now() - from - ms
    }
    const spare = await Promise.all(Array.from({ length: 200 }, (_, i) => sleepOnce(1 + (i % 40))))
    assert.deepEqual(
      spare.filter(ms => ms < 0),
      [],
    )
  })

  test('a timer that fires early is waited for again', async t => {
    const asked = steeredTimers(t, 0.4)
    await new SystemClock().sleep(1.5)
    assert.deepEqual(asked, [2, 1])
  })

  test('a sleep longer than a timer can hold is slept in pieces', async t => {
    const asked = steeredTimers(t, 0)
    await new SystemClock().sleep(2 ** 31 + 10)
    assert.deepEqual(asked, [2 ** 31 - 1, 11])
  })

  test('a sleep or a deadline of many years does not end at once', async () => {
    const clock = new SystemClock()
    const control = new AbortController()
    const long = clock.sleep(2 ** 40, control.signal)
    const deadline = clock.deadline(2 ** 40)
    assert.equal(await Promise.race([long.catch(() => 'aborted'), clock.sleep(20).then(() => 'still asleep')]), 'still asleep')
    assert.equal(deadline.aborted, false)
    control.abort(new Error('enough'))
    await assert.rejects(long, /enough/)
  })

  test('realAt is the time itself', () => {
    assert.equal(new SystemClock().realAt(42), 42)
  })
})

const clocks: Record<string, () => { clock: Clock; run: <T>(done: Promise<T>) => Promise<T> }> = {
  system: () => ({ clock: new SystemClock(), run: done => done }),
  scaled: () => ({ clock: new ScaledClock(new SystemClock(), 60, Date.now()), run: done => done }),
  virtual: () => {
    const clock = new VirtualClock(0)
    return { clock, run: done => clock.runUntil(done) }
  },
}
for (const [name, make] of Object.entries(clocks)) {
  describe(`every clock: ${name}`, () => {
    test('an aborted sleep rejects with the reason, whether the abort came before or during it', async () => {
      const { clock, run } = make()
      const control = new AbortController()
      const during = clock.sleep(60_000_000, control.signal)
      control.abort(new Error('stop asked'))
      await assert.rejects(run(during), /stop asked/)
      await assert.rejects(run(clock.sleep(1, control.signal)), /stop asked/)
    })

    test('a sleep that ended leaves no listener on its signal', async () => {
      const { clock, run } = make()
      const { signal } = new AbortController()
      for (let i = 0; i < 3; i++) await run(clock.sleep(1, signal))
      assert.equal(getEventListeners(signal, 'abort').length, 0)
    })

    test('a moment that has passed is due now', async () => {
      const { clock, run } = make()
      await run(Promise.all([clock.sleep(-1_000), clock.sleep(0)]))
      const signal = clock.deadline(-1_000)
      await assert.rejects(run(clock.sleep(60_000_000, signal)), { name: 'TimeoutError' })
    })

    test('what is no span of time is a mistake, not a pause', async () => {
      const { clock } = make()
      await assert.rejects(clock.sleep(Number.NaN), { name: 'AssertionError' })
      await assert.rejects(clock.sleep(Number.POSITIVE_INFINITY), { name: 'AssertionError' })
      assert.throws(() => clock.deadline(Number.NaN), { name: 'AssertionError' })
    })
  })
}

describe('the scaled clock', () => {
  const ANCHOR = Date.UTC(2026, 0, 1)

  test('runs its factor faster from the anchor on, in both directions', async () => {
    const base = new VirtualClock(ANCHOR - 1_000)
    const clock = new ScaledClock(base, 60, ANCHOR)
    assert.equal(clock.now(), ANCHOR - 60_000)
    await base.runUntil(base.sleep(1_000))
    assert.equal(clock.now(), ANCHOR)
    await base.runUntil(clock.sleep(90_000))
    assert.equal(base.now(), ANCHOR + 1_500)
    assert.equal(clock.now(), ANCHOR + 90_000)
  })

  test('two clocks with one anchor agree, whenever they were made', async () => {
    const base = new VirtualClock(ANCHOR)
    const server = new ScaledClock(base, 60, ANCHOR)
    await base.runUntil(base.sleep(12_345))
    const simulator = new ScaledClock(base, 60, ANCHOR)
    assert.equal(server.now(), simulator.now())
  })

  test('a deadline stays real', async () => {
    const base = new VirtualClock(ANCHOR)
    const clock = new ScaledClock(base, 60, ANCHOR)
    await assert.rejects(base.runUntil(clock.sleep(86_400_000, clock.deadline(5_000))), { name: 'TimeoutError' })
    assert.equal(base.now(), ANCHOR + 5_000)
  })

  const speeds = fc.integer({ min: 1, max: 100_000 })
  const spans = fc.integer({ min: 0, max: 400 * 86_400_000 })

  test('at realAt(instant) it shows the instant, and a millisecond earlier not yet', () => {
    fc.assert(
      fc.property(speeds, spans, (speed, span) => {
        const realAt = new ScaledClock(new VirtualClock(0), speed, ANCHOR).realAt(ANCHOR + span)
        const shownAt = (real: number): number => new ScaledClock(new VirtualClock(real), speed, ANCHOR).now()
        assert(shownAt(realAt) >= ANCHOR + span)
        assert(shownAt(realAt - 1) < ANCHOR + span)
      }),
    )
  })

  test('no sleep ends before its time', async () => {
    await fc.assert(
      fc.asyncProperty(speeds, spans, fc.nat(10_000), async (speed, span, late) => {
        const base = new VirtualClock(ANCHOR + late)
        const clock = new ScaledClock(base, speed, ANCHOR)
        const from = clock.now()
        await base.runUntil(clock.sleep(span))
        assert(clock.now() >= from + span)
      }),
    )
  })
})
