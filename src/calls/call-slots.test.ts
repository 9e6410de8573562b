// Who waits for whom when a vendor does not answer.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { VirtualClock } from '../kernel/clock.ts'
import { seeded } from '../kernel/random.ts'
import { unmetered, type CallClass } from '../quota/quota.ts'
import { openVendor, type VendorRequest } from '../vendors/vendors.ts'
import { Calls, callSlots, type Fetch } from './calls.ts'

const strava = openVendor('strava', { clientId: '1', clientSecret: 's', baseUrl: 'http://vendor.test' })
const detail = strava.endpoints.activityDetail('7')

describe('a vendor that hangs', () => {
  const CONCURRENCY = 4
  /** Calls that hang, and one that is answered at once if it leaves. */
  const behind = async (count: number, callClass: CallClass, next?: VendorRequest<unknown>) => {
    const [clock, over] = [new VirtualClock(0), new AbortController()]
    let asked = 0
    const fetch: Fetch = (url, { signal }) => {
      asked += 1
      if (url === detail.url) return clock.sleep(3_600_000, signal ?? over.signal).then(() => new Response('late'))
      return Promise.resolve(new Response(url.includes('token') ? '{"access_token":"a"}' : '[]'))
    }
    const calls = new Calls({ fetch, clock, random: seeded(1), permits: unmetered, slots: callSlots(CONCURRENCY) })
    const hanging = Array.from({ length: count }, () => calls.call(detail, { callClass, signal: over.signal }))
    const outcome = next && (await clock.runUntil(calls.call(next, { callClass: 'live' })))
    await clock.runUntil(clock.sleep(1))
    over.abort()
    await Promise.allSettled(hanging)
    return { outcome: outcome?.outcome, waitedMs: clock.now() - 1, asked }
  }
  const token = strava.oauth.exchange({ code: 'c', redirectUri: 'http://paceline.test/' })
  const live = strava.endpoints.listSubscriptions()

  for (const count of [4, 16]) {
    test(`${count} calls of backfill that hang delay neither a token call nor a live call`, async () => {
      for (const next of [token, live])
        assert.deepEqual(await behind(count, 'backfill', next), { outcome: 'ok', waitedMs: 0, asked: CONCURRENCY + 1 })
    })
  }

  test('sixteen live calls that hang do not delay a token call', async () => {
    assert.deepEqual(await behind(16, 'live', token), { outcome: 'ok', waitedMs: 0, asked: 17 })
  })

  test('is asked by so many at once and no more, of either class', async () => {
    assert.equal((await behind(50, 'backfill')).asked, CONCURRENCY)
    assert.equal((await behind(50, 'live')).asked, 4 * CONCURRENCY)
  })
})
