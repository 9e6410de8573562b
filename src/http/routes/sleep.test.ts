// Nights over HTTP: what is taken of other programs, and what an athlete reads. Embedded bus and store; the consumer and the relay run.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { SystemClock } from '../../kernel/clock.ts'
import { EventStream } from '../../../test/event-stream.ts'
import { assertRefused, bearer, openHttp, tokenOf, type Answer, type Asker, type Headers } from '../../../test/http-fixture.ts'
import { runs } from '../../../test/runs.ts'
import { until } from '../../../test/waiting.ts'

// What pauses after an outage pauses in real time: the fixture's own clock stands still.
const fixture = await openHttp({}, { isAlone: true, outside: () => ({ realClock: new SystemClock() }) })
const { app, accounts, as, clock, database, normaliser, relay } = fixture
const SUBJECT = 'athlete-ally.sleep.raw-received'
const INGEST = '/api/v1/ingest/sleep'

before(async () => {
  await normaliser.service.start()
  await relay.service.start()
})
after(async () => {
  await relay.service.stop()
  await normaliser.service.stop()
  await fixture.close()
})

const night = { date: '2025-10-02', durationMinutes: 420 }
const ask = async (payload: unknown, headers: Headers = {}): Promise<Answer> => {
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload)
  const url = { method: 'POST', url: INGEST } as const
  return await app.inject({ ...url, headers: { 'content-type': 'application/json', ...as.ingest, ...headers }, payload: body })
}
const accepted = async (payload: object, headers: Headers = {}): Promise<string> => {
  const answer = await ask(payload, headers)
  assert.equal(answer.statusCode, 200, answer.body)
  const { message, eventId } = answer.json<{ message: string; eventId: string }>()
  assert.equal(message, 'Sleep data received')
  return eventId
}
/** Ids of the events on the bus about this person. */
const published = async (userId: string): Promise<string[]> => {
  const text = `select message_id as id from bus_message where subject = $1 and user_id = $2 order by seq`
  return (await database.query<{ id: string }>(text, [SUBJECT, userId])).map(({ id }) => id)
}
const handled = async (): Promise<void> => {
  await until(
    async () => (await database.query(`select from bus_delivery where durable = $1`, [normaliser.durable])).length === 0,
  )
}

describe('ingesting a night', () => {
  test('answers when the bus has it, and it is stored', async () => {
    const userId = randomUUID()
    const eventId = await accepted({ userId, ...night, raw: { source: 'oura', qualityScore: 84.6 } })
    assert.deepEqual(await published(userId), [eventId])
    await handled()
    assert.deepEqual(
      await database.query('select duration_minutes, quality_score, vendor, captured_at from sleep_data where user_id = $1', [
        userId,
      ]),
      [{ duration_minutes: 420, quality_score: 85, vendor: 'oura', captured_at: new Date(clock.now()) }],
    )
  })

  const refused: Readonly<Record<string, readonly [body: unknown, details: readonly string[]]>> = {
    'a date of another form': [{ userId: 'u1', ...night, date: '10/02/2025' }, ['date: Invalid date format']],
    'a day that no calendar has': [{ userId: 'u1', ...night, date: '2025-02-30' }, ['date: Invalid date format']],
    'a day before the first year': [{ userId: 'u1', ...night, date: '0000-01-01' }, ['date: Invalid date format']],
    'no duration': [{ userId: 'u1', date: night.date }, ['durationMinutes: Required']],
    'less than nothing': [{ userId: 'u1', ...night, durationMinutes: -1 }, ['durationMinutes: Must not be negative']],
    'half a minute': [{ userId: 'u1', ...night, durationMinutes: 0.5 }, ['durationMinutes: Expected a whole number']],
    'more than a day': [{ userId: 'u1', ...night, durationMinutes: 1441 }, ['durationMinutes: A day has 1440 minutes']],
    nobody: [{ userId: '', ...night }, ['userId: Required']],
    'an instant that is none': [{ userId: 'u1', ...night, capturedAt: '2025-10-02' }, ['capturedAt: Invalid instant']],
    'an instant before the first year': [
      { userId: 'u1', ...night, capturedAt: '0001-01-01T00:00:00+23:59' },
      ['capturedAt: Invalid instant'],
    ],
    'a day too far ahead': [
      { userId: 'u1', ...night, capturedAt: new Date(clock.now() + 86_400_001).toISOString() },
      ['capturedAt: More than 24 hours ahead of the clock'],
    ],
    'a list for an object': [{ userId: 'u1', ...night, raw: [] }, ['raw: Expected an object']],
    'nothing at all': [{}, ['userId: Required', 'date: Required', 'durationMinutes: Required']],
  }
  for (const [what, [body, details]] of Object.entries(refused))
    test(`${what} is refused in the document's words, and nothing is published`, async () => {
      assert.deepEqual(assertRefused(await ask(body), 400, 'PACE_BAD_REQUEST'), { error: 'Validation failed', details })
      assert.deepEqual(await published('u1'), [])
    })

  test('an object that is a well is refused before anything falls into it', async () => {
    for (const inner of ['['.repeat(20_000) + ']'.repeat(20_000), `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`])
      for (const key of [undefined, randomUUID()]) {
        const payload = JSON.stringify({ userId: 'u1', ...night, raw: { a: 0 } }).replace('0}', `${inner}}`)
        const headers = { ...as.ingest, 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) }
        const { statusCode, body } = await app.inject({ method: 'POST', url: '/api/v1/ingest/sleep', headers, payload })
        assert.deepEqual(
          [statusCode, (JSON.parse(body) as { details: unknown }).details],
          [400, ['raw: Nested more than 64 deep']],
        )
      }
  })

  test('is for the ingest token alone', async () => {
    const statuses: Readonly<Partial<Record<Asker, number>>> = {
      nobody: 401,
      garbage: 401,
      athlete: 403,
      operator: 403,
      ingest: 200,
    }
    for (const [asker, status] of Object.entries(statuses)) {
      const headers = { 'content-type': 'application/json', ...as[asker as Asker] }
      const answer = await app.inject({ method: 'POST', url: INGEST, headers, payload: { userId: 'u2', ...night } })
      assert.equal(answer.statusCode, status, asker)
    }
  })
})

describe('an Idempotency-Key', () => {
  const keyed = (): { key: string; headers: Headers; userId: string } => {
    const key = randomUUID()
    return { key, headers: { 'idempotency-key': key }, userId: randomUUID() }
  }

  test('makes a repetition the same event and the same answer, whatever the order of its fields', async () => {
    const { headers, userId } = keyed()
    const eventId = await accepted({ userId, ...night, raw: { source: 'oura', qualityScore: 85 } }, headers)
    assert.equal(await accepted({ raw: { qualityScore: 85, source: 'oura' }, ...night, userId }, headers), eventId)
    assert.deepEqual(await published(userId), [eventId])
  })

  test('makes many at once one event', async () => {
    const { headers, userId } = keyed()
    const ids = await Promise.all(Array.from({ length: 8 }, () => accepted({ userId, ...night }, headers)))
    assert.deepEqual(await published(userId), [...new Set(ids)])
    assert.equal(new Set(ids).size, 1)
  })

  test('with another body is refused, and that body is not published', async () => {
    const { headers, userId } = keyed()
    const eventId = await accepted({ userId, ...night }, headers)
    assertRefused(await ask({ userId, ...night, durationMinutes: 421 }, headers), 422, 'PACE_KEY_REUSED')
    assert.deepEqual(await published(userId), [eventId])
  })

  test('is forgotten after a day', async () => {
    const { headers, userId } = keyed()
    const first = await accepted({ userId, ...night }, headers)
    await clock.runUntil(clock.sleep(86_400_001))
    const second = await accepted({ userId, ...night, durationMinutes: 421 }, headers)
    assert.notEqual(second, first)
    assert.deepEqual(await published(userId), [first, second])
  })

  test('of a request that the bus did not take is free again, also for another body', async () => {
    const { headers, userId } = keyed()
    await database.script('alter table bus_message rename to bus_message_away')
    const failed = await ask({ userId, ...night }, headers)
    await database.script('alter table bus_message_away rename to bus_message')
    assertRefused(failed, 500, 'PACE_BUS_UNAVAILABLE')
    assert.deepEqual(await published(userId), [])
    const eventId = await accepted({ userId, ...night, durationMinutes: 421 }, headers)
    assert.deepEqual(await published(userId), [eventId])
  })

  test('is of visible characters', async () => {
    const refusal = await ask({ userId: 'u3', ...night }, { 'idempotency-key': 'a b' })
    assert.match(assertRefused(refusal, 400, 'PACE_BAD_REQUEST').details?.[0] ?? '', /One to 200 visible characters/)
  })
})

describe('whatever is sent', () => {
  const odd = fc.constantFrom<unknown>(
    null,
    '',
    '\0',
    '\ud800',
    '\udc00x',
    'x'.repeat(300),
    '😀'.repeat(140),
    -1,
    0.5,
    1e308,
    [],
    {},
    true,
  )
  const orOdd = (usual: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
    fc.oneof({ weight: 6, arbitrary: usual }, odd, fc.jsonValue())
  const years = fc.constantFrom('0000', '0001', '1969', '2025', '9999')
  const days = fc.tuple(years, fc.constantFrom('-01-01', '-02-29', '-02-30', '-12-31', '-6-1')).map(parts => parts.join(''))
  const times = fc.constantFrom(
    'T00:00:00Z',
    'T23:59:59.999Z',
    'T08:30:00+14:00',
    'T00:00:00+23:59',
    'T12:00:00-23:59',
    'T24:00:00Z',
    'T08:30Z',
  )
  const raw = fc.record(
    {
      source: orOdd(fc.constantFrom('oura', 'whoop', 'garmin', 'polar')),
      qualityScore: orOdd(fc.double()),
      externalId: orOdd(fc.string({ unit: 'binary' })),
      validation: orOdd(fc.constantFrom('ENHANCED_TENTATIVE', 'ENHANCED_FINAL')),
    },
    { requiredKeys: [] },
  )
  const bodies = fc.record(
    {
      userId: orOdd(fc.string({ unit: 'binary', minLength: 1 })),
      date: orOdd(days),
      durationMinutes: orOdd(fc.integer({ min: 0, max: 1440 })),
      capturedAt: orOdd(fc.tuple(days, times).map(parts => parts.join(''))),
      raw: fc.oneof({ weight: 6, arbitrary: raw }, fc.dictionary(fc.string(), fc.jsonValue()), odd),
    },
    { requiredKeys: ['userId', 'date', 'durationMinutes'] },
  )
  const texts = fc.oneof(
    { weight: 8, arbitrary: bodies.map(body => JSON.stringify(body)) },
    fc.json(),
    fc.string(),
    fc.constantFrom('{"__proto__": 1}', '{"userId": "u", "date": "2025-10-02", "durationMinutes": 1e999}', '['.repeat(5_000)),
  )

  test('is taken or refused, never a fault, and what is taken is stored', async () => {
    let taken = 0
    await fc.assert(
      fc.asyncProperty(texts, async text => {
        const { statusCode, body } = await ask(text)
        assert([200, 400].includes(statusCode), `${statusCode}: ${body}`)
        if (statusCode === 200) taken += 1
      }),
      { numRuns: runs(300, 5_000) },
    )
    assert(taken > 0, 'no body was valid')
    await handled()
    const letters = `select convert_from(data, 'UTF8') as data, headers ->> 'Paceline-Error' as error from bus_message where stream = 'AA_DLQ'`
    assert.deepEqual(await database.query(letters), [])
  })

  test('in a query is answered or refused', async () => {
    const value = fc.oneof({ weight: 4, arbitrary: days }, fc.string())
    const limits = fc.constantFrom('0', '1', '201', '-1', 'x')
    const queries = fc.record({ from: value, to: value, cursor: value, limit: limits }, { requiredKeys: [] })
    await fc.assert(
      fc.asyncProperty(queries, async query => {
        const { statusCode, body } = await app.inject({
          url: `/v1/sleep?${new URLSearchParams(query).toString()}`,
          headers: as.athlete,
        })
        assert([200, 400].includes(statusCode), `${statusCode}: ${body}`)
      }),
      { numRuns: runs(100, 2_000) },
    )
  })
})

describe('reading nights', () => {
  const DAYS = ['2025-09-28', '2025-09-29', '2025-09-30', '2025-10-01', '2025-10-02']
  interface Page {
    readonly items: readonly { readonly date: string }[]
    readonly nextCursor: string | null
  }
  const someone = async (): Promise<{ id: string; headers: Headers }> => {
    const { id } = await accounts.createAthlete({ name: 'Ada', timezone: null })
    return { id, headers: bearer((await tokenOf(accounts, id)).token) }
  }
  const page = async (headers: Headers, query = ''): Promise<Page> => {
    const answer = await app.inject({ url: `/v1/sleep${query}`, headers })
    assert.equal(answer.statusCode, 200, answer.body)
    return answer.json<Page>()
  }
  const dates = ({ items }: Page): string[] => items.map(({ date }) => date)

  test('is for the athlete whose they are, newest first, in pages, from a day to a day', async () => {
    const [ada, eve] = [await someone(), await someone()]
    for (const [n, date] of DAYS.entries()) await accepted({ userId: ada.id, date, durationMinutes: n })
    await handled()
    assert.deepEqual(await page(eve.headers), { items: [], nextCursor: null })
    assert.deepEqual(dates(await page(ada.headers)), DAYS.toReversed())
    const first = await page(ada.headers, '?limit=2')
    const second = await page(ada.headers, `?limit=2&cursor=${first.nextCursor}`)
    const third = await page(ada.headers, `?limit=2&cursor=${second.nextCursor}`)
    assert.deepEqual([first, second, third].flatMap(dates), DAYS.toReversed())
    assert.equal(third.nextCursor, null)
    assert.deepEqual(dates(await page(ada.headers, '?from=2025-09-29&to=2025-10-01')), DAYS.slice(1, 4).toReversed())
    assert.equal((await page(ada.headers, '?limit=5')).nextCursor, null)
  })

  test('shows what counts of a day', async () => {
    const ada = await someone()
    const capturedAt = '2025-10-02T08:30:00.000Z'
    await accepted({ userId: ada.id, ...night, capturedAt, raw: { source: 'whoop', qualityScore: 150 } })
    await accepted({ userId: ada.id, ...night, durationMinutes: 400, capturedAt, raw: { source: 'oura' } })
    await handled()
    const counting = { date: night.date, durationMinutes: 400, qualityScore: null, vendor: 'oura', capturedAt }
    assert.deepEqual(await page(ada.headers), { items: [counting], nextCursor: null })
  })

  test('is refused to those who are no athlete and name none', async () => {
    assertRefused(await app.inject({ url: '/v1/sleep' }), 401, 'PACE_UNAUTHORISED')
    assertRefused(await app.inject({ url: '/v1/sleep', headers: as.ingest }), 403, 'PACE_FORBIDDEN')
    const ada = await someone()
    assert.deepEqual(await page({ ...as.operator, 'x-paceline-athlete': ada.id }), { items: [], nextCursor: null })
  })

  test('can be waited for: a night that counts is an event, as it is listed', async t => {
    const ada = await someone()
    const live = await fixture.rebuild({
      clock: new SystemClock(),
      liveTimes: { beatMs: 3_600_000, checkMs: 3_600_000, passMs: 5 },
    })
    t.after(() => live.close())
    const stream = await EventStream.open(await live.listen({ host: '127.0.0.1', port: 0 }), ada.headers)
    await stream.comment()
    await accepted({ userId: ada.id, ...night, raw: { source: 'garmin', qualityScore: -20 } })
    const told = await stream.next(({ event }) => event === 'sleep')
    assert.deepEqual([told.data], (await page(ada.headers)).items)
    assert.equal(told.data['qualityScore'], 0)
  })
})
