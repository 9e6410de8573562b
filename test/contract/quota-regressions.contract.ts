// The laws of the Budget port about what a vendor's answers teach everyone, when calls go in single file, and what holds when many
// take at once.
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { SINGLE_FILE_MS } from '../../src/quota/budget.ts'
import type { RateReport } from '../../src/vendors/vendors.ts'
import {
  ADA,
  BOB,
  DAY,
  GUARD,
  MINUTE,
  MIDNIGHT,
  NEXT,
  NOON,
  type NewLimiterFixture,
  QUARTER,
  SECOND,
  SOON,
  START,
  TOMORROW,
  backfill,
  checkins,
  edgeAfter,
  night,
  ok,
  read,
  said,
  sleep,
  tooMany,
  write,
} from './quota-fixture.ts'

export function reportLaws(limiter: NewLimiterFixture): void {
  test("the vendor's limits replace ours, up and down, for everyone", async () => {
    const [one, other] = [limiter(), limiter()]
    await one.spend(read, 1, ok(said('read', { limit: 150, used: 1 }, { limit: 1_500 })))
    assert.equal(await other.left(read), 142 - 1)
    await one.spend(read, 1, ok(said('read', { limit: 200, used: 2 }, { limit: 100 })))
    assert.equal(await other.left(read), 95 - 2)
    await other.spend(read, 1, ok(said('read', { limit: 40, used: 3 })))
    assert.equal(await one.left(read), 38 - 3)
    await one.spend(read, 35)
    await one.refused(read, 'limit', 'read', '15min', NEXT)
  })

  test("the vendor's count raises ours and never lowers it", async () => {
    const one = limiter()
    await one.spend(read, 10, ok(said('read', { used: 60 })))
    assert.equal(await limiter().left(read), 35)
    await one.spend(read, 5, ok(said('read', { used: 3 })))
    assert.equal(await limiter().left(read), 30)
    await one.spend(write, 1, ok(said('overall', { used: 180 })))
    assert.equal(await limiter().left(read), 10)
  })

  test("the vendor's count of the day raises ours of the day", async () => {
    const one = limiter()
    await one.spend(read, 1, ok(said('read', {}, { used: 940 })))
    assert.equal(await one.left(read), 10)
    await one.at(START + QUARTER)
    assert.equal(await one.left(read), 10)
    await one.at(START + DAY)
    assert.equal(await one.left(read), 95)
  })

  test('with a clock ahead the last count of the old day does not fill the new one, and nobody else is suspected', async () => {
    const one = limiter()
    await one.at(MIDNIGHT + DAY - 60 * SECOND)
    await one.spend(read, 90, { ...ok(said('read', { used: 90 }, { used: 90 })), saidAt: one.clock.at - 20 * SECOND })
    await one.at(MIDNIGHT + DAY + 10 * SECOND)
    await one.spend(read, 1, { ...ok(said('read', { used: 91 }, { used: 91 })), saidAt: one.clock.at - 20 * SECOND })
    assert.equal(await limiter().left(read), 94)
    await one.at(MIDNIGHT + DAY + MINUTE)
    await one.spend(read, 1, { ...ok(said('read', { used: 1 }, { used: 1 })), saidAt: one.clock.at - 20 * SECOND })
    await Promise.all([one.grant(read), one.grant(read)])
  })

  const NOTHING: readonly (RateReport | undefined)[] = [
    undefined,
    { pools: {} },
    said('read', {}),
    said('nonsense', { limit: 7, used: 99 }),
    { pools: { read: [{ windowSeconds: 901, limit: 7, used: 99 }] } },
  ]
  test('an answer without a count changes none, and calls go on one at a time', async () => {
    const one = limiter()
    for (const report of NOTHING) await one.spend(read, 2, ok(report))
    assert.equal(await one.left(read), 85)
    await one.send(read)
    await one.refused(read, 'yield', 'read', '15min', START + SOON)
  })

  test('what two processes learn at the same time is learned by both', async () => {
    const [one, other] = [limiter(), limiter()]
    await one.hear()
    const calls = [await one.send(read), await other.send(read), await other.send(read)] as const
    await calls[0].settle(ok(said('read', { limit: 150 })))
    await calls[1].settle(ok(said('overall', { limit: 120 })))
    assert.equal(await limiter().left(read), 114 - 1 - 3)
    await Promise.all([one.spend(read, 1, ok(said('read', { limit: 60 }))), calls[2].settle(ok(said('overall', { limit: 110 })))])
    assert.equal(await limiter().left(read), 57 - 4)
    assert.equal(await limiter().left(write), 104 - 1 - 4)
  })

  for (const [when, sentMs, answeredMs, after] of [
    ['at the beginning of a window', GUARD - 1, QUARTER / 2, 94],
    ['at the end of a window', QUARTER / 2, QUARTER - GUARD, 94],
    ['across an edge', -MINUTE, MINUTE, 94],
    ['in a later window', -QUARTER - MINUTE, MINUTE, 94],
    ['on another day', -DAY, MINUTE, 94],
  ] as const) {
    test(`a count of a window that was given ${when} changes none, and calls go on one at a time`, async () => {
      const [edge, one] = [NOON, limiter()]
      await one.at(edge + sentMs)
      const call = await one.send(read)
      await one.at(edge + answeredMs)
      await call.settle(ok(said('read', { used: 90 })))
      assert.equal(await one.left(read), after)
      await one.send(read)
      await one.refused(read, 'yield', 'read', '15min', edge + answeredMs + SOON)
    })
  }

  test('a count of the day that was given across midnight changes none', async () => {
    const one = limiter()
    await one.at(MIDNIGHT - MINUTE)
    const call = await one.send(read)
    await one.at(MIDNIGHT + MINUTE)
    await call.settle(ok(said('read', {}, { used: 900 })))
    assert.equal(await one.left(read), 94)
  })
}

export function refusalLaws(limiter: NewLimiterFixture): void {
  test('"too many" closes the short window for every process at once, and no other', async () => {
    const [one, other] = [limiter(), limiter()]
    await other.hear()
    await one.spend(read, 1, tooMany())
    for (const closed of [one, other, limiter()]) await closed.refused(read, 'closed', 'read', '15min', NEXT)
    await other.refused(write, 'closed', 'overall', '15min', NEXT)
    await other.refused(backfill, 'closed', 'read', '15min', NEXT)
    await other.at(NEXT)
    assert.equal(await other.left(read), 95)
  })

  test('"too many" closes only the pool that is full, where the answer says which', async () => {
    const one = limiter()
    await one.spend(
      read,
      1,
      tooMany({
        pools: { ...said('read', { limit: 100, used: 100 }).pools, ...said('overall', { limit: 200, used: 100 }).pools },
      }),
    )
    await one.refused(read, 'closed', 'read', '15min', NEXT)
    assert.equal(await one.left(write), 90)
  })

  test('"too many" with a full day closes the day', async () => {
    const [one, other] = [limiter(), limiter()]
    await one.spend(read, 1, tooMany(said('read', { limit: 100, used: 12 }, { limit: 1_000, used: 1_000 })))
    await other.refused(read, 'closed', 'read', 'day', TOMORROW)
    await other.at(NEXT)
    await other.refused(read, 'closed', 'read', 'day', TOMORROW)
    assert.equal(await other.left(write), 190)
    await other.at(TOMORROW)
    assert.equal(await other.left(read), 95)
  })

  test('a second "too many" in the next window closes the day, one later does not', async () => {
    const [one, other] = [limiter(), limiter()]
    await one.spend(read, 1, tooMany())
    await one.at(START + 2 * QUARTER)
    await one.spend(read, 1, tooMany())
    await other.refused(read, 'closed', 'read', '15min', edgeAfter(START + 2 * QUARTER) + GUARD)
    await one.at(START + 3 * QUARTER)
    await other.spend(read, 1, tooMany())
    await one.refused(read, 'closed', 'read', 'day', TOMORROW)
  })

  test('two "too many" in a row leave a day open that has room by its own headers', async () => {
    const [one, other] = [limiter(), limiter()]
    const room = {
      pools: {
        ...said('read', {}, { limit: 1_000, used: 300 }).pools,
        ...said('overall', {}, { limit: 2_000, used: 300 }).pools,
      },
    }
    for (const at of [START, START + QUARTER]) {
      await one.at(at)
      await one.spend(read, 1, tooMany(room))
      await other.refused(read, 'closed', 'read', '15min', edgeAfter(at) + GUARD)
    }
    await one.at(START + 2 * QUARTER)
    assert.equal(await other.left(read), 95)
  })

  test('"too many" just after an edge closes no more than the time near it', async () => {
    const one = limiter()
    await one.at(NEXT - GUARD - 1)
    const call = await one.send(read)
    await one.at(NEXT - 1)
    await call.settle(tooMany())
    await one.refused(read, 'closed', 'read', '15min', NEXT)
    await one.at(NEXT)
    assert.equal(await one.left(read), 94)
  })

  test('two "too many" of one window are one lesson, also when the second comes after its end', async () => {
    const [one, other] = [limiter(), limiter()]
    await one.at(NEXT - 2 * GUARD - SECOND)
    await one.hear()
    const [first, second] = [await one.send(read), await other.send(read)]
    await one.at(NEXT - GUARD - SECOND)
    await first.settle(tooMany())
    await one.at(NEXT)
    await second.settle(tooMany())
    assert.equal(await one.left(read), 94)
  })

  test('a lesson that a process has missed does not keep it from teaching', async () => {
    const [one, other] = [limiter(), limiter()]
    await one.spend(read, 1, ok(said('read', { limit: 100, used: 1 })))
    assert.equal(await other.left(read), 94)
    const [first, second] = [await one.send(read), await other.send(read)]
    await first.settle(ok(said('read', { limit: 200 })))
    await second.settle(ok(said('read', { limit: 100 })))
    assert.equal(await one.left(read), 92)
  })

  test('a token pool counts and closes for its athlete alone', async () => {
    const one = limiter()
    await one.spend(checkins(ADA), 237)
    await one.refused(checkins(ADA), 'limit', 'users', 'hour', edgeAfter(START, 4 * QUARTER))
    assert.equal(await one.left(checkins(BOB)), 237)
    await one.spend(checkins(BOB), 1, tooMany(undefined, { retryAt: START + 20 * MINUTE }))
    await limiter().refused(checkins(BOB), 'closed', 'users', 'hour', START + 20 * MINUTE)
    await limiter().refused(checkins(ADA), 'limit', 'users', 'hour', edgeAfter(START, 4 * QUARTER))
    await one.at(START + 20 * MINUTE)
    assert.equal(await one.left(checkins(BOB)), 236)
  })

  test('where each token and the application have a pool both are counted', async () => {
    const one = limiter()
    await one.spend(night(ADA), 2_000)
    assert.equal(await one.left(night(ADA)), 375)
    assert.equal(await one.left(night(BOB)), 375)
    assert.equal(await one.left({ ...night(BOB), cost: [{ pool: 'token', units: 1 }] }), 2_375)
  })

  test('a rolling window that is nearly full by its own count is closed', async () => {
    const one = limiter()
    const hourly = (used: number): RateReport => ({ pools: { users: [{ windowSeconds: 3600, limit: 500, used }] } })
    await one.spend(checkins(ADA), 1, ok(hourly(474)))
    assert.equal(await one.left(checkins(ADA)), 236)
    await one.spend(checkins(ADA), 1, ok(hourly(475)))
    await limiter().refused(checkins(ADA), 'closed', 'users', 'hour', edgeAfter(START, 4 * QUARTER))
    assert.equal(await one.left(checkins(BOB)), 237)
  })
}

export function crowdLaws(limiter: NewLimiterFixture): void {
  test('before the vendor has said its count one call is under way at a time', async () => {
    const [one, other] = [limiter(), limiter()]
    const waiting = async (): Promise<void> => {
      await other.refused(read, 'yield', 'read', '15min', other.clock.at + SOON)
      await other.refused(write, 'yield', 'overall', '15min', other.clock.at + SOON)
    }
    const first = await one.send(read)
    await waiting()
    await first.giveBack()
    const second = await other.send(read)
    await waiting()
    await second.settle()
    await one.send(read)
    await one.at(START + SINGLE_FILE_MS - SECOND)
    await waiting()
    await one.at(START + SINGLE_FILE_MS)
    const fourth = await other.send(read)
    await waiting()
    await fourth.settle(ok(said('read', { used: 3 })))
    for (const someone of [one, other, one, other]) await someone.grant(read)
  })

  test('the end of an overtaken call does not let another pass', async () => {
    const one = limiter()
    const slow = await one.send(read)
    await one.at(START + SINGLE_FILE_MS)
    await one.send(read)
    await slow.settle()
    await one.refused(read, 'yield', 'read', '15min', START + SINGLE_FILE_MS + SOON)
  })

  test('when another program spends the same quota calls go one at a time, for a day', async () => {
    const [one, other] = [limiter(), limiter()]
    await one.spend(read, 1, ok(said('read', { used: 10 })))
    await other.send(read)
    await one.refused(read, 'yield', 'read', '15min', START + SOON)
    await one.at(START + DAY - SECOND)
    await one.spend(read, 1, ok(said('read', { used: 1 })))
    await one.send(read)
    await other.refused(read, 'yield', 'read', '15min', START + DAY - SECOND + SOON)
    await one.at(START + DAY)
    await one.grant(read)
  })

  test('a call of ours that arrives in the next window is not taken for another program', async () => {
    const [one, other] = [limiter(), limiter()]
    await one.at(NEXT - 2 * GUARD - SECOND)
    await one.hear()
    const slow = await one.send(read)
    await one.at(NEXT)
    await one.spend(read, 1, ok(said('read', { used: 2 })))
    for (const someone of [one, other]) await someone.grant(read)
    await slow.settle()
  })

  test('a window whose edges are unknown has no single file', async () => {
    const [one, other] = [limiter(), limiter()]
    for (const someone of [one, other, one]) await someone.grant(sleep)
  })

  test('of fifty that ask at once before the first answer one may go', async () => {
    const limiters = [limiter(), limiter()]
    const answers = await Promise.all(limiters.flatMap(one => Array.from({ length: 25 }, () => one.ask(read))))
    assert.equal(answers.filter(({ outcome }) => outcome === 'granted').length, 1)
    for (const answer of answers) assert(answer.outcome === 'granted' || ('cause' in answer && answer.cause === 'yield'))
  })

  for (const processes of [1, 4]) {
    test(`of two hundred who ask at once in ${processes} processes exactly as many as allowed may go`, async () => {
      const limiters = Array.from({ length: processes }, () => limiter())
      await limiters[0]?.hear()
      const askers = limiters.flatMap(one => Array.from({ length: 200 / processes }, () => one))
      const answers = await Promise.all(askers.map(one => one.ask(read)))
      assert.equal(answers.filter(({ outcome }) => outcome === 'granted').length, 95)
      for (const answer of answers) assert(answer.outcome === 'granted' || ('cause' in answer && answer.cause === 'limit'))
      assert.equal(await limiter().left(write), 190 - 95 - 1)
    })
  }
}
