import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { SystemClock, VirtualClock, type Clock } from '../kernel/clock.ts'
import fc from 'fast-check'
import { hear } from '../kernel/channels.ts'
import { seeded } from '../kernel/random.ts'
import { Slots } from '../kernel/slots.ts'
import { openVendor, vendorNames, type VendorRequest } from '../vendors/vendors.ts'
import type { PermitSource } from '../quota/quota.ts'
import { Calls, type CallOutcome, type Fetch } from './calls.ts'
import { runs } from '../../test/runs.ts'

const strava = openVendor('strava', { clientId: '1', clientSecret: 's', baseUrl: 'http://vendor.test' })
const detail = strava.endpoints.activityDetail('7')
const update = { ...detail, idempotent: false }

/** A permit source that writes down what became of each permit. */
const SPENT = { pool: 'read', window: '15min', cause: 'limit', resetAt: 900_000 } as const
function ledger(refuseAfter = Number.POSITIVE_INFINITY): { permits: PermitSource; entries: string[] } {
  const entries: string[] = []
  const permits: PermitSource = () => {
    if (entries.length >= refuseAfter) return Promise.resolve({ outcome: 'refused', ...SPENT })
    const at = entries.push('taken') - 1
    const become = (what: string): Promise<void> => {
      entries[at] = what
      return Promise.resolve()
    }
    return Promise.resolve({
      outcome: 'granted',
      remaining: 1,
      permit: {
        sendBefore: Number.POSITIVE_INFINITY,
        giveBack: () => become('returned'),
        settle: ({ outcome }) => become(`spent: ${outcome}`),
      },
    })
  }
  return { permits, entries }
}

const answer =
  (status: number, body = '{}', headers: Record<string, string> = {}): (() => Promise<Response>) =>
  () =>
    Promise.resolve(new Response(body, { status, headers }))
const networkError =
  (code: string): (() => Promise<Response>) =>
  () =>
    Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) }))

interface Tried {
  readonly outcome: CallOutcome<unknown>
  readonly entries: readonly string[]
  readonly asked: number
}

/** Runs a call against answers in turn, on virtual time. */
async function tried(
  request: VendorRequest<unknown>,
  answers: readonly ((clock: Clock, signal: AbortSignal) => Promise<Response>)[],
  refuseAfter?: number,
): Promise<Tried> {
  const clock = new VirtualClock(1_000)
  const { permits, entries } = ledger(refuseAfter)
  let asked = 0
  const fetch: Fetch = (_, init) => {
    const next = answers[asked++]
    assert(next, 'asked more often than there are answers')
    assert(init.signal)
    return next(clock, init.signal)
  }
  const calls = new Calls({ fetch, clock, random: seeded(1), permits, slots: () => new Slots(4) })
  const outcome = await clock.runUntil(calls.call(request, { callClass: 'live' }))
  return { outcome, entries, asked }
}

const silence = (clock: Clock, signal: AbortSignal): Promise<Response> =>
  clock.sleep(3_600_000, signal).then(() => new Response('late'))

describe('one call', () => {
  test('a vendor that answers is asked once, under one permit', async () => {
    const { outcome, entries } = await tried(strava.endpoints.listSubscriptions(), [answer(200, '[]')])
    assert.equal(outcome.outcome, 'ok')
    assert.deepEqual(entries, ['spent: ok'])
  })

  for (const [what, first, outcome] of [
    ['too many', answer(429), 'rate_limited'],
    [
      'an expired token',
      answer(401, '{"message":"Authorization Error","errors":[{"resource":"Athlete","field":"access_token","code":"invalid"}]}'),
      'unauthorised',
    ],
    [
      'an application that is switched off',
      answer(403, '{"message":"Forbidden","errors":[{"resource":"Application","field":"Status","code":"Inactive"}]}'),
      'inactive',
    ],
    ['nothing there', answer(404), 'absent'],
    ['a refusal', answer(400), 'rejected'],
    ['nonsense', answer(200, '<html>'), 'malformed'],
    ['a redirect to another host', answer(302, '', { location: 'https://elsewhere.test/' }), 'rejected'],
  ] as const) {
    test(`${what} is ${outcome}, and is not asked again`, async () => {
      const result = await tried(detail, [first])
      assert.equal(result.outcome.outcome, outcome)
      assert.deepEqual(result.entries, [`spent: ${outcome}`])
    })
  }

  for (const [what, first] of [
    ['a server error', answer(503)],
    ["Strava's maintenance", answer(597)],
    ['a reset connection', networkError('ECONNRESET')],
    ['silence', silence],
  ] as const) {
    test(`${what} is asked once more, under a permit of its own`, async () => {
      const { outcome, entries, asked } = await tried(strava.endpoints.listSubscriptions(), [first, answer(200, '[]')])
      assert.equal(outcome.outcome, 'ok')
      assert.equal(asked, 2)
      assert.match(entries[0] ?? '', /^spent: (transient|timeout)$/)
    })

    test(`${what} on a request that may not be repeated is an outcome at once`, async () => {
      const { outcome, asked } = await tried(update, [first])
      assert.match(outcome.outcome, /^(transient|timeout)$/)
      assert.equal(asked, 1)
    })
  }

  test('two failures are the end', async () => {
    const { outcome, asked } = await tried(detail, [answer(500), answer(502)])
    assert.equal(outcome.outcome, 'transient')
    assert.equal(asked, 2)
  })

  test('a request that never left gives its permit back', async () => {
    const { outcome, entries } = await tried(detail, [networkError('ECONNREFUSED'), networkError('ENOTFOUND')])
    assert.equal(outcome.outcome, 'transient')
    assert.deepEqual(entries, ['returned', 'returned'])
  })

  test('without a permit nothing is sent, neither at first nor again', async () => {
    const none = await tried(detail, [], 0)
    assert.deepEqual(none.outcome, { outcome: 'no_permit', refusal: SPENT })
    const once = await tried(detail, [answer(500)], 1)
    assert.deepEqual([once.outcome.outcome, once.asked], ['no_permit', 1])
  })

  test('an answer larger than allowed is malformed', async () => {
    const clock = new VirtualClock(0)
    const calls = new Calls({
      fetch: answer(200, 'x'.repeat(2_000)),
      clock,
      random: seeded(1),
      permits: ledger().permits,
      slots: () => new Slots(1),
    })
    const outcome = await clock.runUntil(calls.call(detail, { callClass: 'live', maxBytes: 1_000 }))
    assert.equal(outcome.outcome, 'malformed')
  })
})

describe('permits and slots', () => {
  const refused = (resetAt: number) => ({ outcome: 'refused', pool: 'read', window: '15min', cause: 'yield', resetAt }) as const
  const granted = (entries: string[], sendBefore: number) => {
    const note = (what: string) => (): Promise<void> => {
      entries.push(what)
      return Promise.resolve()
    }
    return {
      outcome: 'granted',
      remaining: 1,
      permit: { sendBefore, giveBack: note('returned'), settle: note('spent') },
    } as const
  }

  test('a permit that comes within seconds is waited for; meanwhile the slot serves others', async () => {
    const clock = new VirtualClock(0)
    const slots = new Slots(1)
    const calls = new Calls({
      fetch: answer(200, '[]'),
      clock,
      random: seeded(1),
      slots: () => slots,
      permits: () => Promise.resolve(clock.now() < 6_000 ? refused(6_000) : granted([], Number.POSITIVE_INFINITY)),
    })
    const call = calls.call(strava.endpoints.listSubscriptions(), { callClass: 'backfill' })
    let servedAt = -1
    const other = clock.sleep(1_000).then(() => slots.use(async () => (servedAt = clock.now())))
    const [outcome] = await clock.runUntil(Promise.all([call, other]))
    assert.deepEqual([outcome.outcome, servedAt, clock.now()], ['ok', 1_000, 6_000])
  })

  test("a permit that comes later is the caller's to wait for", async () => {
    const clock = new VirtualClock(0)
    const calls = new Calls({
      fetch: answer(200),
      clock,
      random: seeded(1),
      slots: () => new Slots(1),
      permits: () => Promise.resolve(refused(60_000)),
    })
    const outcome = await clock.runUntil(calls.call(detail, { callClass: 'backfill' }))
    assert.deepEqual([outcome.outcome === 'no_permit' && outcome.refusal?.resetAt, clock.now()], [60_000, 0])
  })

  test('an answer is not lost because its permit could not be settled', async () => {
    const clock = new VirtualClock(0)
    const broken = (): Promise<void> => Promise.reject(new Error('the ledger is away'))
    const permit = { sendBefore: Number.POSITIVE_INFINITY, giveBack: broken, settle: broken }
    const calls = new Calls({
      fetch: answer(200, '[]'),
      clock,
      random: seeded(1),
      slots: () => new Slots(1),
      permits: () => Promise.resolve({ outcome: 'granted', permit, remaining: 1 }),
    })
    const faults: string[] = []
    const deafen = hear('paceline:fault', ({ where }) => faults.push(where))
    const outcome = await clock.runUntil(calls.call(strava.endpoints.listSubscriptions(), { callClass: 'live' }))
    deafen()
    assert.deepEqual([outcome.outcome, faults], ['ok', ['the end of a permit']])
  })

  test('a permit whose windows are over is given back, and another one taken', async () => {
    const clock = new VirtualClock(5_000)
    const entries: string[] = []
    const permits = [granted(entries, 5_000), granted(entries, Number.POSITIVE_INFINITY)]
    const calls = new Calls({
      fetch: answer(200, '[]'),
      clock,
      random: seeded(1),
      slots: () => new Slots(1),
      permits: () => Promise.resolve(permits.shift() ?? refused(0)),
    })
    const outcome = await clock.runUntil(calls.call(strava.endpoints.listSubscriptions(), { callClass: 'live' }))
    assert.deepEqual([outcome.outcome, entries], ['ok', ['returned', 'spent']])
  })
})

describe('a caller that confirms', () => {
  const asking = async (
    confirm: (granted: { remaining: number }) => Promise<boolean>,
    answers: readonly (() => Promise<Response>)[] = [],
  ): Promise<{ outcome: CallOutcome<unknown>; entries: string[] }> => {
    const clock = new VirtualClock(1_000)
    const { permits, entries } = ledger()
    const left = [...answers]
    const fetch: Fetch = () => (left.shift() ?? assert.fail('nothing may leave'))()
    const calls = new Calls({ fetch, clock, random: seeded(1), permits, slots: () => new Slots(1) })
    const call = calls.call(strava.endpoints.listSubscriptions(), { callClass: 'live', confirm })
    return { outcome: await clock.runUntil(call), entries }
  }

  test('withdraws without a request, and the permit goes back', async () => {
    const { outcome, entries } = await asking(() => Promise.resolve(false))
    assert.deepEqual([outcome, entries], [{ outcome: 'withdrawn' }, ['returned']])
  })

  test('is asked with every permit, and hears what is left', async () => {
    const heard: number[] = []
    const confirm = ({ remaining }: { remaining: number }): Promise<boolean> => Promise.resolve(heard.push(remaining) > 0)
    const { outcome, entries } = await asking(confirm, [answer(500), answer(200, '[]')])
    assert.deepEqual([outcome.outcome, heard, entries], ['ok', [1, 1], ['spent: transient', 'spent: ok']])
  })

  test('that fails fails the call, and the permit goes back', async () => {
    const { permits, entries } = ledger()
    const clock = new SystemClock()
    const calls = new Calls({ fetch: answer(200, '[]'), clock, random: seeded(1), permits, slots: () => new Slots(1) })
    const confirm = (): Promise<boolean> => Promise.reject(new Error('the store is away'))
    await assert.rejects(calls.call(detail, { callClass: 'live', confirm }), /the store is away/)
    assert.deepEqual(entries, ['returned'])
  })
})

describe('cancelling', () => {
  const setUp = (slots = new Slots(1)) => {
    const { permits, entries } = ledger()
    const clock = new SystemClock()
    const sent = Promise.withResolvers<void>()
    const calls = new Calls({
      fetch: (_, { signal }) => {
        sent.resolve()
        return silence(clock, signal ?? AbortSignal.abort())
      },
      clock,
      random: seeded(1),
      permits,
      slots: () => slots,
    })
    return { calls, entries, sent: sent.promise }
  }

  test('the caller who cancels hears their own reason, and what left is spent', async () => {
    const { calls, entries, sent } = setUp()
    const caller = new AbortController()
    const call = calls.call(detail, { callClass: 'live', signal: caller.signal })
    await sent
    caller.abort(new Error('not needed any more'))
    await assert.rejects(call, /not needed any more/)
    assert.deepEqual(entries, ['spent: timeout'])
  })

  test('who cancels while waiting for a turn has spent nothing and holds nothing', async () => {
    const slots = new Slots(1)
    const { calls, entries } = setUp(slots)
    const held = Promise.withResolvers<void>()
    const holding = slots.use(() => held.promise)
    const caller = new AbortController()
    const call = calls.call(detail, { callClass: 'live', signal: caller.signal })
    caller.abort(new Error('too long a queue'))
    await assert.rejects(call, /too long a queue/)
    held.resolve()
    await holding
    assert.deepEqual(entries, [])
  })

  test('no turn within the whole time of the call is no permit, for nothing was sent', async () => {
    const slots = new Slots(1)
    const { calls, entries } = setUp(slots)
    const held = Promise.withResolvers<void>()
    const holding = slots.use(() => held.promise)
    const outcome = await calls.call(update, { callClass: 'live', totalMs: 30 })
    held.resolve()
    await holding
    assert(outcome.outcome === 'no_permit' && outcome.refusal !== undefined)
    assert.deepEqual(entries, [])
  })

  test('no turn for the second attempt leaves the outcome of the first', async () => {
    const [clock, slots, held] = [new VirtualClock(1_000), new Slots(1), Promise.withResolvers<void>()]
    const { permits, entries } = ledger()
    const fetch: Fetch = () => {
      // Whoever waits for the slot has it until the call is over.
      void slots.use(() => held.promise)
      return Promise.resolve(new Response('', { status: 503 }))
    }
    const calls = new Calls({ fetch, clock, random: seeded(1), permits, slots: () => slots })
    const outcome = await clock.runUntil(calls.call(detail, { callClass: 'live' }))
    held.resolve()
    assert.equal(outcome.outcome, 'transient')
    assert.deepEqual(entries, ['spent: transient'])
  })
})

const OUTCOMES = [
  'ok',
  'rate_limited',
  'unauthorised',
  'forbidden',
  'inactive',
  'absent',
  'rejected',
  'transient',
  'timeout',
  'malformed',
]

/** One request of every kind that each vendor has an answer for. */
const everyRequest = (): VendorRequest<unknown>[] => {
  const given = { clientId: '1', clientSecret: 's', baseUrl: 'http://vendor.test' }
  const [oura, whoop] = [openVendor('oura', given), openVendor('whoop', given)]
  return [
    detail,
    strava.endpoints.activityList({}),
    strava.endpoints.activityStreams('7'),
    strava.endpoints.activityPhotos('7'),
    oura.endpoints.sleepById('a'),
    whoop.endpoints.sleepById('a'),
    openVendor('foursquare', given).endpoints.checkins({}),
    ...vendorNames.flatMap(name => openVendor(name, given).oauth.refresh('r') ?? []),
  ]
}

test('whatever a vendor answers, the call ends in an outcome of the union', async () => {
  const deep = '['.repeat(5_000) + ']'.repeat(5_000)
  const body = fc.oneof(
    fc.json(),
    fc.string(),
    fc.constantFrom(deep, 'NaN', '{"id":1e999}', `[${'0,'.repeat(20_000)}0]`, '\u0000', '{"errors":"x"}'),
  )
  const status = fc.oneof(
    fc.constantFrom(200, 204, 301, 400, 401, 403, 404, 429, 500, 502, 597),
    fc.integer({ min: 200, max: 599 }),
  )
  const header = fc.dictionary(
    fc.constantFrom('x-ratelimit-usage', 'x-ratelimit-limit', 'retry-after', 'x-ratelimit-reset', 'location'),
    fc.constantFrom(',', '1,2', 'NaN', '-5', '9e99', ''),
  )
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...everyRequest()), body, status, header, async (request, text, code, headers) => {
      const empty = [204, 205, 304].includes(code)
      const respond = (): Promise<Response> => Promise.resolve(new Response(empty ? null : text, { status: code, headers }))
      const { outcome } = await tried(request, [respond, respond])
      assert(OUTCOMES.includes(outcome.outcome), outcome.outcome)
    }),
    { numRuns: runs(150, 400), seed: 1 },
  )
})
