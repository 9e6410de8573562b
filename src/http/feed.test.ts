// One client's feed on virtual time: how often it tells, what waits for a client that is slow, and how it takes failure.
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { hear } from '../kernel/channels.ts'
import { VirtualClock } from '../kernel/clock.ts'
import { PacelineError } from '../kernel/errors.ts'
import { Feed, type FeedParts, type LiveKind } from './feed.ts'
import { Live } from './live.ts'

const TIMES = { beatMs: 15_000, passMs: 250, checkMs: 30_000 }

/** Counters by id: what is told of one is how far it has come. */
class Counters implements LiveKind {
  readonly kind = 'counter'
  readonly counts = new Map<string, number>()
  /** Thrown at the next reading, once. */
  failure: Error | undefined
  padding = ''

  async underWay(): Promise<string[]> {
    return [...this.counts.keys()]
  }

  async read(_: string, id: string): Promise<{ answer: object; isOver: boolean } | undefined> {
    const { failure } = this
    this.failure = undefined
    if (failure !== undefined) throw failure
    const count = this.counts.get(id)
    return count === undefined ? undefined : { answer: { id, count, padding: this.padding }, isOver: false }
  }
}

function opened(t: TestContext, given: Partial<FeedParts> = {}) {
  const [clock, counters] = [new VirtualClock(Date.UTC(2026, 0, 1)), new Counters()]
  const parts = { clock, times: TIMES, kinds: [counters], athleteId: 'ada', isAllowed: async () => true }
  const feed = new Feed({ ...parts, ...given })
  const done = feed.run()
  t.after(async () => {
    feed.end()
    await done
  })
  const count = (id: string, to: number): void => {
    counters.counts.set(id, to)
    feed.changed(counters, id)
  }
  const pass = async (ms: number): Promise<void> => await clock.runUntil(clock.sleep(ms))
  return { clock, counters, feed, done, count, pass }
}

/** What a client has been sent by now. */
const taken = ({ body }: Feed): string => ((body.read() as Buffer | null) ?? '').toString()
const countsIn = (text: string): number[] => [...text.matchAll(/"count":(\d+)/g)].map(([, count]) => Number(count))

describe('a feed', () => {
  test('tells of one thing four times a second at most, and its last state always', async t => {
    const { feed, count, pass } = opened(t)
    for (let n = 1; n <= 100; n++) {
      count('a', n)
      await pass(10)
    }
    await pass(250)
    const told = countsIn(taken(feed))
    assert(told.length >= 4 && told.length <= 6, `${told.length} times`)
    assert.equal(told.at(-1), 100)
  })

  test('tells again what has changed while it was read', async t => {
    const { feed, counters, count, pass } = opened(t)
    const read = counters.read.bind(counters)
    counters.read = async (athleteId, id) => {
      const found = await read(athleteId, id)
      counters.read = read
      count(id, 2)
      return found
    }
    count('a', 1)
    await pass(600)
    assert.deepEqual(countsIn(taken(feed)), [1, 2])
  })

  test('keeps ids and no states for a client that is slow, and tells it the present ones', async t => {
    const { feed, counters, count, pass } = opened(t)
    counters.padding = 'x'.repeat(1_000)
    for (let n = 0; n < 500; n++) count(`id ${n}`, 1)
    await pass(1_000)
    const first = taken(feed)
    assert(first.length < feed.body.readableHighWaterMark + 2_000, `${first.length} bytes wait`)
    for (let n = 0; n < 500; n++) count(`id ${n}`, 2)
    const told = new Map<string, number>()
    for (let look = 0; look < 100; look++) {
      for (const [, id = '', seen] of taken(feed).matchAll(/"id":"(id \d+)","count":(\d)/g)) told.set(id, Number(seen))
      await pass(250)
    }
    assert.deepEqual([told.size, new Set(told.values())], [500, new Set([2])])
  })

  test('leaves a client that takes nothing for a whole beat, and not one that takes a little', async t => {
    const { feed, counters, count, done, pass } = opened(t)
    counters.padding = 'x'.repeat(100_000)
    for (let n = 0; n < 3; n++) {
      count('a', n)
      await pass(15_000)
      feed.body.read(10)
    }
    assert(!feed.body.destroyed)
    await pass(30_001)
    assert(feed.body.destroyed)
    await done
  })

  test('outlives a database that is away, and then tells what it owed', async t => {
    const away = new PacelineError('PACE_DATABASE_UNAVAILABLE', 'Away.')
    const { feed, counters, count, pass } = opened(t, { isAllowed: () => Promise.reject(away) })
    counters.failure = away
    count('a', 1)
    await pass(100)
    assert.deepEqual(countsIn(taken(feed)), [])
    await pass(60_000)
    assert(countsIn(taken(feed)).length > 0)
    assert(!feed.body.readableEnded)
  })

  test('ends at a fault, and tells it', async t => {
    const faults: unknown[] = []
    t.after(hear('paceline:fault', ({ error }) => faults.push(error)))
    const { feed, counters, count, done, pass } = opened(t)
    const mistake = new TypeError('a mistake')
    counters.failure = mistake
    count('a', 1)
    await pass(1_000)
    await done
    taken(feed)
    assert.deepEqual(faults, [mistake])
  })

  test('says nothing of what is gone', async t => {
    const { feed, counters, pass } = opened(t)
    feed.changed(counters, 'gone')
    await pass(1_000)
    assert.doesNotMatch(taken(feed), /event/)
  })
})

test('every 15 seconds comes a comment, also where nothing happens', async t => {
  const clock = new VirtualClock(0)
  const live = new Live({ clock, database: { listen: async () => async () => undefined }, kinds: [] })
  t.after(() => live.close())
  const body = await live.open('ada', async () => true)
  for (const at of [14_999, 15_000, 29_999, 30_000]) {
    await clock.runUntil(clock.sleep(at - clock.now()))
    const text = (body.read() as Buffer | null)?.toString() ?? ''
    assert.equal(text.includes(': still here\n\n'), at % 15_000 === 0, `after ${at} ms: ${text}`)
  }
})

test('under a scaled clock the times stay real', async t => {
  const slept: number[] = []
  const clock = new VirtualClock(0)
  const scaled = Object.create(clock, {
    speed: { value: 60 },
    sleep: {
      value: (ms: number, signal?: AbortSignal) => {
        slept.push(ms)
        return clock.sleep(ms, signal)
      },
    },
  }) as VirtualClock
  opened(t, { clock: scaled })
  assert.deepEqual(slept, [900_000, 1_800_000])
})

test('a database that does not listen in time is said to be away, and the stop does not wait for it', async () => {
  const clock = new VirtualClock(0)
  const live = new Live({ clock, database: { listen: () => new Promise(() => undefined) }, kinds: [] })
  await assert.rejects(clock.runUntil(live.open('ada', async () => true)), { code: 'PACE_DATABASE_UNAVAILABLE' })
  await clock.runUntil(live.close())
})
