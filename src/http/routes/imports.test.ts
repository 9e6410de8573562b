// Imports over HTTP: asking, refusals, shapes, pages. Nothing runs here; how an import goes on is proven in test/contract/.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { isId } from '../../kernel/ids.ts'
import type { VendorName } from '../../vendors/vendors.ts'
import { assertRefused, bearer, NOBODY, openHttp, tokenOf, type Answer, type Headers } from '../../../test/http-fixture.ts'

const fixture = await openHttp()
const { app, accounts, activities, clock, database } = fixture
after(() => fixture.close())

interface Asker {
  readonly id: string
  readonly headers: Headers
}

async function athlete(timezone: string | null = null): Promise<Asker> {
  const { id } = await accounts.createAthlete({ name: 'Ada', timezone })
  return { id, headers: bearer((await tokenOf(accounts, id)).token) }
}

async function connect({ id }: Asker, vendor: VendorName, status = 'active', lastSyncAt: Date | null = null): Promise<void> {
  await database.query(
    `insert into connection (id, athlete_id, vendor, vendor_athlete_id, status, scopes, access_token, connected_at, consented_at, last_sync_at)
     values (gen_random_uuid(), $1, $2, $1::uuid::text, $3, '{}', '\\x00', $4, $4, $5)`,
    [id, vendor, status, new Date(clock.now()), lastSyncAt],
  )
}

async function connected(): Promise<Asker> {
  const someone = await athlete()
  await connect(someone, 'strava')
  return someone
}

const ask = async ({ headers }: Asker, payload: object = { vendor: 'strava', type: 'full' }): Promise<Answer> =>
  await app.inject({ method: 'POST', url: '/v1/imports', headers, payload })
const get = async ({ headers }: Asker, path = ''): Promise<Answer> => await app.inject({ url: `/v1/imports${path}`, headers })

interface Import extends Readonly<Record<string, unknown>> {
  readonly id: string
}

async function begun(someone: Asker, payload?: object): Promise<Import> {
  const answer = await ask(someone, payload)
  assert.equal(answer.statusCode, 202, answer.body)
  return answer.json<Import>()
}

async function seen(someone: Asker, id: string): Promise<Import> {
  const answer = await get(someone, `/${id}`)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json<Import>()
}

const START = {
  vendor: 'strava',
  type: 'full',
  status: 'queued',
  progress: { listed: 0, detailed: 0, photos: 0, total: null },
  cursor: {},
  retryAfter: null,
  cause: null,
  limitedBy: null,
  eta: null,
  message: 'Importing',
  error: null,
  problems: [],
}

describe('asking for an import', () => {
  test('begins one and shows it, with what the contract names and nothing besides', async () => {
    const someone = await connected()
    const { id, ...rest } = await begun(someone)
    assert(isId(id))
    assert.deepEqual(rest, START)
    assert.deepEqual(await seen(someone, id), { id, ...rest })
  })

  test('while one runs gives that one, whatever kind is asked for', async () => {
    const someone = await connected()
    const { id } = await begun(someone)
    for (const payload of [
      { vendor: 'strava', type: 'full' },
      { vendor: 'strava', type: 'incremental' },
      { vendor: 'strava', type: 'full', restart: true },
    ]) {
      const again = await ask(someone, payload)
      assert.deepEqual([again.statusCode, again.json<Import>().id], [200, id])
    }
    const { items } = (await get(someone)).json<{ items: Import[] }>()
    assert.equal(items.length, 1)
  })

  test('many times at once begins one', async () => {
    const someone = await connected()
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(someone)))
    const besides = answers.filter(({ statusCode }) => statusCode !== 202)
    assert.deepEqual(
      besides.map(({ statusCode }) => statusCode),
      [200, 200, 200, 200, 200, 200, 200],
    )
    assert.equal(new Set(answers.map(answer => answer.json<Import>().id)).size, 1)
  })

  test('for what is new gives all of it where nothing was ever complete, and otherwise only that', async () => {
    const wish = { vendor: 'strava', type: 'incremental' }
    assert.equal((await begun(await connected(), wish))['type'], 'full')
    const synced = await athlete()
    await connect(synced, 'strava', 'active', new Date(clock.now()))
    assert.equal((await begun(synced, wish))['type'], 'incremental')
  })

  test('of a vendor that is not connected or needs consent is refused', async () => {
    const someone = await athlete()
    assertRefused(await ask(someone), 409, 'PACE_NOT_CONNECTED')
    assertRefused(await ask(someone, { vendor: 'garmin', type: 'full' }), 409, 'PACE_NOT_CONNECTED')
    await connect(someone, 'strava', 'needs_reauth')
    assertRefused(await ask(someone), 409, 'PACE_NEEDS_REAUTH')
    assert.deepEqual((await get(someone)).json(), { items: [], nextCursor: null })
  })

  for (const [payload, field] of [
    [{ vendor: 'nike', type: 'full' }, 'vendor'],
    [{ vendor: 'strava', type: 'half' }, 'type'],
    [{ vendor: 'strava' }, 'type'],
    [{ vendor: 'strava', type: 'full', restart: 'yes' }, 'restart'],
  ] as const) {
    test(`with ${JSON.stringify(payload)} is refused by the field's name`, async () => {
      const { details } = assertRefused(await ask(await connected(), payload), 400, 'PACE_BAD_REQUEST')
      assert.match(String(details), new RegExp(`^${field}: `))
    })
  }
})

describe('an import', () => {
  const rateLimited = `update import_jobs set status = 'rate_limited', retry_after = $2, pause = 'limit', pause_pool = 'read', pause_window = '15min', total = 847,
    sync_cursor = '{"activities_imported": 150, "before": 42}' where id = $1`
  const started = `update import_jobs set status = 'started' where id = $1`

  test('that pauses says until when, in the time of the athlete', async () => {
    const someone = await athlete('Europe/Berlin')
    await connect(someone, 'strava')
    const { id } = await begun(someone)
    await database.query(started, [id])
    const until = '2026-01-01T13:15:00.000Z'
    await database.query(rateLimited, [id, new Date(until)])
    const { cursor, ...paused } = await seen(someone, id)
    assert.partialDeepStrictEqual(paused, {
      status: 'rate_limited',
      retryAfter: until,
      cause: 'limit',
      limitedBy: { pool: 'read', window: '15min' },
      message: 'Rate limited, resuming at 14:15',
      progress: { total: 847 },
    })
    assert.deepEqual(cursor, { activities_imported: 150, before: 42 })
    assert.match(String(paused['eta']), /^2026-01-\d\dT[\d:.]+Z$/)
  })

  test('that failed says why, and what could not be had', async () => {
    const someone = await connected()
    const { id } = await begun(someone)
    const problems = [{ externalId: '9007199254740993', reason: 'Strava answered 500.' }]
    await database.query(
      `update import_jobs set status = 'failed', error = 'strava needs a new consent.', error_code = 'PACE_NEEDS_REAUTH',
       finished_at = now(), problems = $2::text::jsonb where id = $1`,
      [id, JSON.stringify(problems)],
    )
    const sentence = 'strava needs a new consent.'
    const expected = { status: 'failed', error: sentence, message: sentence, problems, eta: null, retryAfter: null }
    assert.partialDeepStrictEqual(await seen(someone, id), expected)
  })

  test('is shown also where a row holds a time zone that nobody knows', async () => {
    const someone = await connected()
    const { id } = await begun(someone)
    const summary = { id: '1', start_date: '2026-01-01T00:00:00Z', timezone: 'Europe/Atlantis' }
    await database.transaction(tx => activities.storeSummaries(tx, someone.id, 'strava', [summary]))
    await database.query("update athlete set timezone = 'Mars/Olympus' where id = $1", [someone.id])
    await database.query(started, [id])
    await database.query(rateLimited, [id, new Date('2026-01-01T13:15:00.000Z')])
    assert.equal((await seen(someone, id))['message'], 'Rate limited, resuming at 13:15')
    assert.equal((await get(someone)).statusCode, 200)
  })

  test('counts what is here', async () => {
    const someone = await connected()
    const { id } = await begun(someone)
    const summary = { id: '1', name: 'Run', start_date: '2026-01-01T00:00:00Z', sport_type: 'Run', elapsed_time: 60 }
    await database.transaction(async tx => {
      await activities.storeSummaries(tx, someone.id, 'strava', [summary, { ...summary, id: '2' }, { ...summary, id: '3' }])
      await activities.storeDetails(tx, someone.id, 'strava', [summary, { ...summary, id: '2' }])
      await activities.storePhotos(tx, someone.id, 'strava', [{ externalId: '1', photos: [] }])
    })
    assert.deepEqual((await seen(someone, id))['progress'], { listed: 3, detailed: 2, photos: 1, total: null })
  })

  test('that is malformed, unknown or somebody else’s is not there', async () => {
    const someone = await connected()
    const { id } = await begun(someone)
    assertRefused(await get(await connected(), `/${id}`), 404, 'PACE_NOT_FOUND')
    for (const wrong of [NOBODY, '42', "'%20or%201=1", `${id}x`])
      assertRefused(await get(someone, `/${wrong}`), 404, 'PACE_NOT_FOUND')
  })
})

describe('the list of imports', () => {
  test('is newest first, in pages without a gap or a double, and of nobody else', async () => {
    const [someone, other] = [await connected(), await connected()]
    const ids: string[] = []
    for (let n = 0; n < 5; n++) {
      const { id } = await begun(someone)
      ids.unshift(id)
      await database.query(
        `update import_jobs set status = 'failed', error = 'Ended.', error_code = 'PACE_NOT_CONNECTED', finished_at = now() where id = $1`,
        [id],
      )
    }
    const found: string[][] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: { items: Import[]; nextCursor: string | null } = (
        await get(someone, `?limit=2${cursor && `&cursor=${cursor}`}`)
      ).json()
      found.push(page.items.map(({ id }) => id))
      cursor = page.nextCursor
    }
    assert.deepEqual(found, [ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)])
    assert.deepEqual((await get(other)).json(), { items: [], nextCursor: null })
    assertRefused(await get(someone, '?cursor=42'), 400, 'PACE_BAD_REQUEST')
    assertRefused(await get(someone, '?limit=201'), 400, 'PACE_BAD_REQUEST')
  })
})
