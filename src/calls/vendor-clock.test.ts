// What an answer says about time is said by the vendor's clock, which need not be ours.
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { VirtualClock } from '../kernel/clock.ts'
import { seeded } from '../kernel/random.ts'
import { Slots } from '../kernel/slots.ts'
import type { PermitSource } from '../quota/quota.ts'
import { openVendor } from '../vendors/vendors.ts'
import { Calls } from './calls.ts'

const strava = openVendor('strava', { clientId: '1', clientSecret: 's', baseUrl: 'http://vendor.test' })
const MIDNIGHT = Date.UTC(2026, 2, 11)
const settled = (): Promise<void> => Promise.resolve()
const permits: PermitSource = () =>
  Promise.resolve({ outcome: 'granted', remaining: 1, permit: { sendBefore: Infinity, giveBack: settled, settle: settled } })

/** When a 429 is over by our clock, which shows `ours` where the vendor's shows `theirs`. */
async function retryAt(ours: number, theirs: number, usage: string): Promise<number | undefined> {
  const clock = new VirtualClock(ours)
  const headers = { date: new Date(theirs).toUTCString(), 'x-ratelimit-limit': '100,1000', 'x-ratelimit-usage': usage }
  const fetch = (): Promise<Response> => Promise.resolve(new Response('{}', { status: 429, headers }))
  const calls = new Calls({ fetch, clock, random: seeded(1), permits, slots: () => new Slots(4) })
  const outcome = await clock.runUntil(calls.call(strava.endpoints.activityDetail('7'), { callClass: 'live' }))
  return outcome.outcome === 'rate_limited' ? outcome.retryAt : undefined
}

test('a 429 just after our midnight or quarter is about the window before where the vendor’s clock is behind ours', async () => {
  for (const usage of ['1,1000', '100,200']) {
    assert.equal(await retryAt(MIDNIGHT + 3_000, MIDNIGHT - 17_000, usage), MIDNIGHT + 20_000, usage)
  }
})

test('a 429 just before our midnight is about the window that the vendor has begun', async () => {
  assert.equal(await retryAt(MIDNIGHT - 10_000, MIDNIGHT + 10_000, '1,1000'), MIDNIGHT + 24 * 3_600_000 - 20_000)
  assert.equal(await retryAt(MIDNIGHT - 10_000, MIDNIGHT + 10_000, '100,200'), MIDNIGHT + 15 * 60_000 - 20_000)
})

test('a second of difference is the date’s own, and a date that is hours off is no clock', async () => {
  for (const theirs of [MIDNIGHT + 2_000, MIDNIGHT - 3 * 3_600_000])
    assert.equal(await retryAt(MIDNIGHT + 3_000, theirs, '100,200'), MIDNIGHT + 15 * 60_000)
})
