// The laws of the Budget port, the same on every adapter: what is counted, near an edge too, and how a call ends. What a vendor
// teaches and what many do at once is in quota-lessons.contract.ts.
import { after, before, beforeEach, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { VirtualClock } from '../../src/kernel/clock.ts'
import { idMaker } from '../../src/kernel/ids.ts'
import { seeded } from '../../src/kernel/random.ts'
import type { PermitNeed } from '../../src/quota/permit.ts'
import {
  ADA,
  type BudgetRig,
  DAY,
  LimiterFixture,
  GUARD,
  MIDNIGHT,
  MINUTE,
  NEXT,
  NOON,
  type NewLimiterFixture,
  QUARTER,
  SECOND,
  START,
  SetClock,
  TOMORROW,
  backfill,
  checkins,
  days,
  edgeAfter,
  limited,
  night,
  ok,
  read,
  said,
  sleep,
  strava,
  times,
  write,
} from './quota-fixture.ts'
import { crowdLaws, refusalLaws, reportLaws } from './quota-regressions.contract.ts'

export interface Differences {
  /** The ledger knows each call by its row. Redis and the model keep numbers only, so their callers end a call once. */
  readonly endsOnce: boolean
}

export function budgetContract(name: string, open: () => Promise<BudgetRig>, differences: Differences): void {
  describe(`budget: ${name}`, () => {
    let rig: BudgetRig
    let clock: SetClock
    before(async () => {
      rig = await open()
    })
    after(async () => {
      await rig.close()
    })
    beforeEach(async () => {
      await rig.forget()
      clock = new SetClock(START)
    })
    const newId = idMaker(new VirtualClock(START), seeded(1))
    const limiter: NewLimiterFixture = settings => new LimiterFixture(rig, clock, newId, settings)

    describe('counting', () => {
      countingLaws(limiter)
    })
    describe('edges', () => {
      edgeLaws(limiter)
    })
    describe('ends', () => {
      endingLaws(limiter, differences)
    })
    describe('lessons', () => {
      reportLaws(limiter)
      refusalLaws(limiter)
    })
    describe('crowds', () => {
      crowdLaws(limiter)
    })
  })
}

function countingLaws(limiter: NewLimiterFixture): void {
  test('a call is counted in all of its windows or in none', async () => {
    const one = limiter()
    await one.hear()
    await one.spend(read, 95)
    for (let n = 0; n < 3; n++) await one.refused(read, 'limit', 'read', '15min', NEXT)
    assert.equal(await one.left(write), 190 - 1 - 95)
    await one.spend(write, 94)
    await one.refused(write, 'limit', 'overall', '15min', NEXT)
  })

  test('a full overall pool leaves the read pool as it is', async () => {
    const one = limiter(limited({ read: [100, 1_000], overall: [40, 2_000] }))
    await one.hear()
    await one.spend(write, 37)
    for (let n = 0; n < 3; n++) await one.refused(read, 'limit', 'overall', '15min', NEXT)
    assert.equal(await one.left(strava('read')), 95)
  })

  test('a window allows its limit less the buffer, a day too, and both begin anew', async () => {
    const one = limiter()
    for (let quarter = 0; quarter < 10; quarter++) {
      await one.hear()
      await one.spend(read, 94)
      await one.spend(read)
      const [pool, window, until] = ['read', quarter < 9 ? '15min' : 'day', edgeAfter(one.clock.at) + GUARD] as const
      await one.refused(read, 'limit', pool, window, quarter < 9 ? until : TOMORROW)
      await one.at(one.clock.at + QUARTER)
    }
    await one.refused(read, 'limit', 'read', 'day', TOMORROW)
    assert.equal(await one.left(write), 190)
    await one.at(START + DAY)
    assert.equal(await one.left(read), 95)
  })

  test('a window whose edges are unknown allows half of that', async () => {
    const one = limiter()
    await one.spend(sleep, 46)
    assert.equal(await one.left(sleep), 1)
    await one.spend(sleep)
    await one.refused(sleep, 'limit', 'app', 'minute', edgeAfter(START, MINUTE))
    await one.at(START + MINUTE)
    assert.equal(await one.left(sleep), 47)
    assert.equal(await one.left(night(ADA)), 2_375)
    assert.equal(await one.left(checkins(ADA)), 237)
  })

  test('history is priced in days', async () => {
    const one = limiter()
    const month: PermitNeed = {
      ...days,
      cost: [
        { pool: 'requests', units: 1 },
        { pool: 'backfill-days', units: 30 },
      ],
    }
    await one.spend(days, 17)
    await one.grant(month)
    await one.refused(month, 'limit', 'backfill-days', 'minute', edgeAfter(START, MINUTE))
    await one.refused(days, 'limit', 'backfill-days', 'minute', edgeAfter(START, MINUTE))
    assert.equal(await one.left({ ...strava('requests'), vendor: 'garmin' }), 47 - 18)
  })

  test('backfill leaves twenty calls of a window to live ones', async () => {
    const one = limiter()
    await one.hear()
    await one.spend(backfill, 74)
    await one.spend(backfill)
    await one.refused(backfill, 'yield', 'read', '15min', NEXT)
    await one.spend(read, 20)
    await one.refused(backfill, 'limit', 'read', '15min', NEXT)
    await one.refused(read, 'limit', 'read', '15min', NEXT)
  })

  for (const [time, sinceMidnight, kept, decayedAfter] of [
    ['00:00:03', GUARD, 99, 8_640 * SECOND],
    ['12:00:03', DAY / 2 + GUARD, 49, 8_640 * SECOND],
    ['22:00:03', 22 * 4 * QUARTER + GUARD, 8, 7_200 * SECOND - GUARD - 864 * SECOND + 1],
    ['23:50:00', DAY - 10 * MINUTE, 0, 10 * MINUTE + GUARD],
  ] as const) {
    test(`at ${time} backfill leaves ${kept} calls of the day to live ones`, async () => {
      const one = limiter(limited({ read: [5_000, 1_000] }))
      await one.at(MIDNIGHT + sinceMidnight)
      await one.spend(backfill, 949 - kept)
      await one.spend(backfill)
      await one.refused(backfill, kept === 0 ? 'limit' : 'reserve', 'read', 'day', one.clock.at + decayedAfter)
      assert.equal(kept === 0 ? 0 : await one.left(read), kept)
    })
  }

  test('what has decayed when a refusal said so can be taken, and no more', async () => {
    const one = limiter(limited({ read: [5_000, 1_000] }))
    await one.at(NOON + MINUTE)
    await one.spend(backfill, 901)
    await one.refused(backfill, 'reserve', 'read', 'day', NOON + MINUTE + 8_640 * SECOND)
    await one.at(NOON + MINUTE + 8_640 * SECOND)
    await one.spend(backfill, 10)
    await one.refused(backfill, 'reserve', 'read', 'day', one.clock.at + 8_640 * SECOND)
  })
}

/** An edge of a quarter and one of a day, each with 19 calls allowed on either side of it. */
const EDGES = [
  { window: '15min', edge: NOON + QUARTER, settings: limited({ read: [20, 1_000] }) },
  { window: 'day', edge: MIDNIGHT + DAY, settings: limited({ read: [1_000, 20] }) },
] as const

function edgeLaws(limiter: NewLimiterFixture): void {
  for (const { window, edge, settings } of EDGES) {
    for (const [ms, after] of [
      [-GUARD - 1, 19],
      [-GUARD, 14],
      [-1, 14],
    ] as const) {
      test(`five live calls ${ms} ms from the edge of a ${window} leave 14 before it and ${after} after it`, async () => {
        const one = limiter(settings)
        await one.at(edge + ms)
        await one.spend(read, 5)
        assert.equal(await one.left(read), 14)
        await one.at(edge + MINUTE)
        assert.equal(await one.left(read), after)
      })
    }

    for (const [ms, sinceThen] of [
      [0, 2],
      [GUARD - 1, 2],
      [GUARD, 19],
    ] as const) {
      test(`${ms} ms after the edge of a ${window} that was nearly full ${sinceThen} live calls may go`, async () => {
        const one = limiter(settings)
        await one.at(edge - MINUTE)
        await one.spend(read, 17)
        await one.at(edge + ms)
        assert.equal(await one.left(read), sinceThen)
        await one.spend(read, sinceThen)
        await one.refused(
          read,
          'limit',
          'read',
          window,
          ms < GUARD ? edge + GUARD : edge + (window === 'day' ? DAY : QUARTER) + GUARD,
        )
        await one.at(edge + MINUTE)
        assert.equal(sinceThen === 19 ? 0 : await one.left(read), 19 - sinceThen)
      })
    }

    test(`backfill does not go near the edge of a ${window}`, async () => {
      const one = limiter(settings)
      for (const ms of [-GUARD, -1, 0, GUARD - 1]) {
        await one.at(edge + ms)
        await one.refused(backfill, 'yield', 'read', '15min', edge + GUARD)
      }
      await one.at(edge + GUARD)
      assert.equal(await one.left(read), 19)
      await one.spend(backfill)
      await one.at(edge + QUARTER - GUARD - 1)
      await one.spend(backfill)
    })

    test(`calls under way at the edge of a ${window} count after it, settled or not`, async () => {
      const one = limiter(settings)
      await one.at(edge - MINUTE)
      await one.hear()
      const [settled, returned, unsettled] = [
        await one.send(times(read, 4)),
        await one.send(times(read, 2)),
        await one.send(read),
      ]
      await one.spend(read, 7)
      await one.at(edge + MINUTE)
      assert.equal(await one.left(read), 19 - 7)
      await one.spend(read, 12)
      await one.refused(read, 'limit', 'read', window, edge + (window === 'day' ? DAY : QUARTER) + GUARD)
      await returned.giveBack()
      assert.equal(await one.left(read), 2)
      await settled.settle()
      assert.equal(await one.left(read), 2)
      await unsettled.giveBack()
      assert.equal(await one.left(read), 3)
    })

    test(`a call that was charged on both sides of the edge of a ${window} is not counted again when it is settled`, async () => {
      const one = limiter(settings)
      await one.at(edge - 1)
      const underWay = await one.send(read)
      await one.at(edge + MINUTE)
      assert.equal(await one.left(read), 18)
      await underWay.settle()
      assert.equal(await one.left(read), 18)
    })
  }

  test('a call under way counts in the next window only, until it is settled in a later one', async () => {
    const one = limiter()
    const underWay = await one.send(times(read, 10))
    await one.at(START + QUARTER)
    assert.equal(await one.left(read), 85)
    await one.at(START + 2 * QUARTER)
    assert.equal(await one.left(read), 95)
    await underWay.settle()
    assert.equal(await one.left(read), 85)
  })

  test('a call of the last quarter of a day is carried into the first quarter of the next, not further', async () => {
    const one = limiter(limited({ read: [1_000, 20] }))
    await one.at(MIDNIGHT + DAY - MINUTE)
    await one.send(times(read, 5))
    await one.at(MIDNIGHT + DAY + QUARTER - GUARD - 1)
    assert.equal(await one.left(read), 14)
    await one.at(MIDNIGHT + DAY + QUARTER + GUARD)
    assert.equal(await one.left(read), 19)
  })
}

function endingLaws(limiter: NewLimiterFixture, { endsOnce }: Differences): void {
  test('a permit that is given back can be taken again', async () => {
    const one = limiter()
    await one.hear()
    await one.spend(read, 94)
    const last = await one.send(read)
    await one.refused(read, 'limit', 'read', '15min', NEXT)
    await last.giveBack()
    await one.grant(read)
    await one.refused(read, 'limit', 'read', '15min', NEXT)
  })

  test('a permit that is never settled counts as spent', async () => {
    const one = limiter()
    await one.hear()
    await one.send(times(read, 95))
    await one.at(NEXT - 2 * GUARD - 1)
    await limiter().refused(read, 'limit', 'read', '15min', NEXT)
  })

  if (endsOnce) {
    test('a call that has ended cannot end again', async () => {
      const one = limiter()
      await one.hear()
      const [settled, returned] = [await one.send(times(read, 10)), await one.send(times(read, 10))]
      await one.send(times(read, 30))
      await settled.settle()
      await returned.giveBack()
      assert.equal(await one.left(read), 55)
      for (const call of [settled, returned]) {
        await call.giveBack()
        await call.settle(ok(said('read', { used: 80 })))
      }
      assert.equal(await one.left(read), 55)
      await one.at(START + QUARTER)
      assert.equal(await one.left(read), 65, 'thirty are under way still')
    })
  }
}
