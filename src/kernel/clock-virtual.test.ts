// The laws of the virtual clock: time moves only when nothing else can happen, and the same way for the same seed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { SystemClock, VirtualClock } from './clock.ts'
import { between, seeded } from './random.ts'

const turn = (): Promise<void> =>
  new Promise(resolve => {
    setImmediate(resolve)
  })

const QUARTER_MS = 900_000

/** Three workers share 95 calls a quarter of an hour to fetch 1,000 things; a vendor answers after 200 to 900 ms. */
async function history(seed: number): Promise<{ trace: string; hours: number }> {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1, 0, 7))
  const random = seeded(seed)
  const started = clock.now()
  const spent = new Map<number, number>()
  const trace: string[] = []
  let left = 1_000
  const worker = async (name: string): Promise<void> => {
    while (left > 0) {
      await clock.track(turn())
      const quarter = Math.floor(clock.now() / QUARTER_MS)
      const used = spent.get(quarter) ?? 0
      if (used === 95) {
        await clock.sleep((quarter + 1) * QUARTER_MS - clock.now())
        continue
      }
      spent.set(quarter, used + 1)
      left -= 1
      await clock.sleep(between(random, 200, 900), clock.deadline(30_000))
      trace.push(`${clock.now()} ${name}`)
    }
  }
  await clock.runUntil(Promise.all(['a', 'b', 'c'].map(worker)))
  return { trace: trace.join('\n'), hours: (clock.now() - started) / 3_600_000 }
}

test('hours of quota windows pass at once, the same way each time for a seed', async () => {
  const [first, again, other] = [await history(7), await history(7), await history(8)]
  assert(first.hours > 2.3 && first.hours < 2.7, `${first.hours} hours`)
  assert.equal(first.trace, again.trace)
  assert.notEqual(first.trace, other.trace)
})

test('timers due at the same instant fire in the order in which they were set', async () => {
  const clock = new VirtualClock(0)
  const fired: string[] = []
  const after = async (ms: number, name: string): Promise<void> => {
    await clock.sleep(ms)
    fired.push(`${name}@${clock.now()}`)
  }
  await clock.runUntil(Promise.all([after(20, 'c'), after(10, 'a'), after(20, 'd'), after(10, 'b')]))
  assert.deepEqual(fired, ['a@10', 'b@10', 'c@20', 'd@20'])
})

test('what one timer sets going happens before the next timer fires', async () => {
  const clock = new VirtualClock(0)
  const seen: string[] = []
  const chain = async (): Promise<void> => {
    await clock.sleep(10)
    for (let i = 0; i < 100; i++) await Promise.resolve()
    await turn()
    seen.push('chain')
  }
  const next = async (): Promise<void> => {
    await clock.sleep(10)
    seen.push('next')
  }
  await clock.runUntil(Promise.all([chain(), next()]))
  assert.deepEqual(seen, ['chain', 'next'])
})

test('time stands still while tracked I/O is under way', async () => {
  const clock = new VirtualClock(0)
  const wire = new SystemClock()
  const answer = clock.track(wire.sleep(30)).then(() => clock.now())
  const deadline = clock.sleep(5).then(() => 'the deadline came first')
  assert.equal(await clock.runUntil(Promise.race([answer, deadline])), 0)
})

test('tracked I/O that fails gives its failure and lets time go on', async () => {
  const clock = new VirtualClock(0)
  await assert.rejects(clock.runUntil(clock.track(Promise.reject(new Error('refused')))), /refused/)
  await clock.runUntil(clock.sleep(7))
  assert.equal(clock.now(), 7)
})

test('a part of a millisecond is a whole one, as ids need it', async () => {
  const clock = new VirtualClock(0)
  await clock.runUntil(clock.sleep(0.25))
  assert.equal(clock.now(), 1)
})

test('a deadline aborts with a TimeoutError at its time', async () => {
  const clock = new VirtualClock(0)
  const signal = clock.deadline(900)
  await assert.rejects(clock.runUntil(clock.sleep(5_000, signal)), { name: 'TimeoutError' })
  assert.equal(clock.now(), 900)
})

test('a lost wake-up is told, not waited for', async () => {
  await assert.rejects(new VirtualClock(0).runUntil(new Promise(() => undefined)), /wake-up was lost/)
})

test('a deadline that nobody needs any more neither moves the time of what is done nor hides a lost wake-up', async () => {
  const clock = new VirtualClock(0)
  clock.deadline(30_000)
  await clock.runUntil(clock.sleep(10))
  assert.equal(clock.now(), 10)
  await assert.rejects(clock.runUntil(new Promise(() => undefined)), /wake-up was lost/)
})

test('a deadline whose time has passed is forgotten, so that a long simulation does not grow', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const clock = new VirtualClock(0)
  const signals: WeakRef<AbortSignal>[] = []
  const caller = async (): Promise<void> => {
    for (let call = 0; call < 2_000; call++) {
      signals.push(new WeakRef(clock.deadline(30_000)))
      await clock.sleep(1_000)
    }
  }
  await clock.runUntil(caller())
  await turn()
  collect()
  const kept = signals.filter(signal => signal.deref() !== undefined).length
  assert(kept <= 40, `${kept} of 2,000 deadlines are still held`)
})
