// What is left of the quotas, as an athlete and as the operator see it.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { VendorName } from '../../vendors/vendors.ts'
import { assertRefused, openHttp, type Headers } from '../../../test/http-fixture.ts'

const VENDORS: readonly VendorName[] = ['strava', 'whoop', 'foursquare']
const fixture = await openHttp({ vendors: () => VENDORS })
const { app, as, athleteId, clock, quota } = fixture
after(() => fixture.close())

const get = async (url: string, headers: Headers): Promise<Record<string, unknown>> => {
  const answer = await app.inject({ url, headers })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json<Record<string, unknown>>()
}

async function call(vendor: VendorName, pools: readonly string[], outcome = 'ok'): Promise<void> {
  const cost = pools.map(pool => ({ pool, units: 1 }))
  const answer = await quota.take({ vendor, endpoint: 'checkins', cost, callClass: 'live', athleteId })
  assert(answer.outcome === 'granted')
  const refusal = outcome === 'rate_limited' ? { retryAt: undefined, scope: 'short' as const } : undefined
  await answer.permit.settle({ outcome, status: 200, report: undefined, refusal })
}

const window = (name: string, [limit, allowed, used]: readonly [number, number, number], resetAt: string) => ({
  window: name,
  limit,
  allowed,
  used,
  remaining: allowed - used,
  resetAt,
  closed: false,
})
const QUARTER = '2026-01-01T10:15:00.000Z'
const MIDNIGHT = '2026-01-02T00:00:00.000Z'

const strava = {
  vendor: 'strava',
  pools: [
    { pool: 'read', windows: [window('15min', [100, 95, 2], QUARTER), window('day', [1000, 950, 2], MIDNIGHT)] },
    { pool: 'overall', windows: [window('15min', [200, 190, 2], QUARTER), window('day', [2000, 1900, 2], MIDNIGHT)] },
  ],
  nextBackfillAt: null,
}

describe('the quota', () => {
  before(async () => {
    await clock.runUntil(clock.sleep(Date.UTC(2026, 0, 1, 10, 5) - clock.now()))
    await call('strava', ['read', 'overall'])
    await call('strava', ['read', 'overall'])
    await call('whoop', ['app'], 'rate_limited')
    await call('foursquare', ['users'])
  })

  test("an athlete sees every vendor with credentials, their own token's pools among them", async () => {
    const { items, ...rest } = await get('/v1/quota', as.athlete)
    assert.deepEqual(rest, { nextCursor: null })
    const [first, whoop, foursquare, ...more] = items as unknown[]
    assert.deepEqual(first, strava)
    assert.partialDeepStrictEqual(whoop, { vendor: 'whoop', nextBackfillAt: '2026-01-01T10:06:00.000Z' })
    assert.deepEqual(foursquare, {
      vendor: 'foursquare',
      pools: [{ pool: 'users', windows: [window('hour', [500, 237, 1], '2026-01-01T11:00:00.000Z')] }],
      nextBackfillAt: null,
    })
    assert.deepEqual(more, [])
  })

  test("the operator sees the application's pools, and who spent what today", async () => {
    const { items, usage, ...rest } = await get('/admin/quota', as.operator)
    assert.deepEqual(rest, {})
    const [first, whoop, foursquare] = items as { pools: { windows: { closed: boolean }[] }[] }[]
    assert.deepEqual(first, strava)
    assert.deepEqual(
      whoop?.pools[0]?.windows.map(({ closed }) => closed),
      [true, false],
    )
    assert.deepEqual(foursquare, { vendor: 'foursquare', pools: [], nextBackfillAt: null })
    const spent = (vendor: string, calls: number, refused: number) => ({
      vendor,
      endpoints: [{ endpoint: 'checkins', class: 'live', calls, refused }],
      athletes: [{ athleteId, calls }],
    })
    assert.partialDeepStrictEqual(usage, [spent('strava', 2, 0), spent('whoop', 1, 1), spent('foursquare', 1, 0)])
    assert.deepEqual((usage as { windows: unknown[] }[])[2]?.windows, [
      { pool: 'users', window: 'hour', startsAt: '2026-01-01T10:00:00.000Z', used: 1 },
    ])
  })

  test('the operator sees so many days as they ask for, counting today', async () => {
    const athletes = async (query: string): Promise<unknown> =>
      ((await get(`/admin/quota${query}`, as.operator))['usage'] as { athletes: unknown }[])[0]?.athletes
    await clock.runUntil(clock.sleep(Date.UTC(2026, 0, 2, 0, 1) - clock.now()))
    assert.deepEqual(await athletes(''), [])
    assert.deepEqual(await athletes('?days=1'), [])
    assert.deepEqual(await athletes('?days=2'), [{ athleteId, calls: 2 }])
    assert.deepEqual(await athletes('?days=35'), [{ athleteId, calls: 2 }])
  })

  for (const days of ['0', '36', '-1', '1.5', 'seven', '', '1&days=2']) {
    test(`asked for with days=${days} is refused by the field's name`, async () => {
      const answer = await app.inject({ url: `/admin/quota?days=${days}`, headers: as.operator })
      assert.match(String(assertRefused(answer, 400, 'PACE_BAD_REQUEST').details), /^days: /)
    })
  }

  test('without any credentials there is nothing to show', async () => {
    const bare = await fixture.rebuild({ vendors: () => [] })
    const ask = async (url: string, headers: Headers): Promise<unknown> => (await bare.inject({ url, headers })).json()
    assert.deepEqual(await ask('/v1/quota', as.athlete), { items: [], nextCursor: null })
    assert.deepEqual(await ask('/admin/quota', as.operator), { items: [], usage: [] })
    await bare.close()
  })
})
