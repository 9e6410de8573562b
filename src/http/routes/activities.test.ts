// An athlete's activities and check-ins over HTTP: shapes, pages, filters, entries by hand. What is stored is proven in test/contract/.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { HOUR_MS } from '../../kernel/durations.ts'
import { isId } from '../../kernel/ids.ts'
import { assertRefused, bearer, NOBODY, openHttp, tokenOf, type Answer, type Headers } from '../../../test/http-fixture.ts'

const fixture = await openHttp()
const { app, accounts, activities, database, athleteId, as } = fixture
after(() => fixture.close())

interface Page {
  readonly items: { readonly id: string; readonly externalId: string | null; readonly name: string }[]
  readonly nextCursor: string | null
}

const DAY = Date.UTC(2026, 0, 2)
const at = (hour: number): string => new Date(DAY + hour * HOUR_MS).toISOString()

/** Of one day, an hour apart; the last two start together. */
const summaries = Array.from({ length: 7 }, (_, n) => ({
  id: `900719925474099${n}`,
  name: `Run ${n}`,
  start_date: at(Math.min(n, 5)),
  sport_type: n % 2 === 0 ? 'Run' : 'Ride',
  elapsed_time: 100 + n,
  distance: 1000.5,
}))
const laps = [
  { id: '1', name: 'Lap 1', start_date: at(0), elapsed_time: 60, distance: 333.3, average_speed: 5.5, start_index: 0 },
]
const photo = {
  unique_id: 'A-B',
  caption: 'Top',
  urls: { '5000': 'https://x.test/a.png' },
  location: [1.5, -2] as [number, number],
}

before(async () => {
  await database.transaction(async tx => {
    await activities.storeSummaries(tx, athleteId, 'strava', summaries)
    const [first] = summaries
    assert(first)
    await activities.storeDetails(tx, athleteId, 'strava', [{ ...first, description: 'Windy', laps, timezone: 'Europe/Berlin' }])
    await activities.storePhotos(tx, athleteId, 'strava', [{ externalId: first.id, photos: [photo] }])
    const venue = { id: 'v', name: 'Iron Yard', location: { lat: 1.5, lng: 2 } }
    const checkins = [3, 1, 2].map(n => ({
      id: `c${n}`,
      createdAt: DAY / 1000 + n,
      ...(n === 3 && { venue, timeZoneOffset: -300 }),
    }))
    await activities.storeCheckins(tx, athleteId, checkins)
  })
})

const get = async (url: string, headers: Headers = as.athlete): Promise<Answer> => await app.inject({ url, headers })
const page = async (url: string): Promise<Page> => {
  const answer = await get(url)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json<Page>()
}
const names = async (query: string): Promise<string[]> => (await page(`/v1/activities?${query}`)).items.map(each => each.name)

/** Follows the cursors to the end, whatever they are. */
async function pages(url: string, limit: number): Promise<(string | null)[][]> {
  const found: (string | null)[][] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const { items, nextCursor }: Page = await page(`${url}?limit=${limit}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`)
    found.push(items.map(item => item.externalId))
    cursor = nextCursor
  }
  return found
}

describe('activities', () => {
  test('are listed newest first, each with what the contract names', async () => {
    const { items, nextCursor } = await page('/v1/activities')
    assert.equal(nextCursor, null)
    assert.deepEqual(
      items.map(each => each.name),
      ['Run 6', 'Run 5', 'Run 4', 'Run 3', 'Run 2', 'Run 1', 'Run 0'],
    )
    const { id, ...rest } = items[6] ?? { id: '' }
    assert(isId(id))
    assert.deepEqual(rest, {
      vendor: 'strava',
      externalId: '9007199254740990',
      name: 'Run 0',
      sport: 'Run',
      start: at(0),
      timezone: 'Europe/Berlin',
      elapsedSeconds: 100,
      movingSeconds: null,
      distanceMeters: 1000.5,
      manual: false,
      detailed: true,
      streams: 'pending',
      processing: null,
    })
  })

  test('come in pages without a gap or a double', async () => {
    const whole = summaries.map(each => each.id).toReversed()
    for (const [limit, sizes] of [
      [1, [1, 1, 1, 1, 1, 1, 1]],
      [3, [3, 3, 1]],
      [7, [7]],
      [200, [7]],
    ] as const) {
      const found = await pages('/v1/activities', limit)
      assert.deepEqual(
        found.map(each => each.length),
        sizes,
      )
      assert.deepEqual(found.flat(), whole)
    }
  })

  test('can be narrowed by sport, time and state of the streams', async () => {
    assert.deepEqual(await names('sport=Ride'), ['Run 5', 'Run 3', 'Run 1'])
    assert.deepEqual(await names(`from=${at(2)}&to=${at(4)}`), ['Run 3', 'Run 2'])
    assert.deepEqual(await names(`from=${encodeURIComponent('2026-01-02T05:00:00+02:00')}&to=${at(4)}`), ['Run 3'])
    assert.deepEqual(await names('streams=success'), [])
    assert.equal((await names('streams=pending&limit=2')).length, 2)
  })

  test('of a day are asked for by its date: a day is meant whole', async () => {
    assert.equal((await names('from=2026-01-02&to=2026-01-02')).length, 7)
    assert.deepEqual(await names('from=2026-01-03'), [])
    assert.deepEqual(await names('to=2026-01-01'), [])
    assert.equal((await names('from=0000-01-01&to=9999-12-31')).length, 7)
  })

  for (const [query, field] of [
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['cursor=42', 'cursor'],
    [`cursor=${NOBODY}`, 'cursor'],
    ['cursor=', 'cursor'],
    ['sport=', 'sport'],
    ['sport=%00', 'sport'],
    ['from=yesterday', 'from'],
    ['to=2026-02-30', 'to'],
    ['streams=lost', 'streams'],
  ] as const) {
    test(`asked for with ${query} are refused by the field's name`, async () => {
      const answer = await get(`/v1/activities?${query}`)
      assert.match(String(assertRefused(answer, 400, 'PACE_BAD_REQUEST').details), new RegExp(`^${field}: `))
    })
  }
})

describe('one activity', () => {
  test('has its description, laps and photos', async () => {
    const listed = (await page('/v1/activities')).items[6]
    const answer = await get(`/v1/activities/${listed?.id}`)
    assert.equal(answer.statusCode, 200, answer.body)
    assert.deepEqual(answer.json(), {
      ...listed,
      description: 'Windy',
      laps: [
        {
          name: 'Lap 1',
          start: at(0),
          elapsedSeconds: 60,
          movingSeconds: null,
          distanceMeters: 333.3,
          elevationGainMeters: null,
          averageSpeedMps: 5.5,
          averageHeartrateBpm: null,
          averageWatts: null,
          startIndex: 0,
          endIndex: null,
        },
      ],
      photos: [{ id: 'A-B', caption: 'Top', urls: photo.urls, takenAt: null, location: [1.5, -2] }],
    })
  })

  test('that is malformed, unknown or somebody else’s is not there', async () => {
    const other = await accounts.createAthlete({ name: 'Bo', timezone: null })
    const theirs = bearer((await tokenOf(accounts, other.id)).token)
    const mine = (await page('/v1/activities')).items[0]?.id
    assert.equal((await get(`/v1/activities/${mine}`)).statusCode, 200)
    assertRefused(await get(`/v1/activities/${mine}`, theirs), 404, 'PACE_NOT_FOUND')
    for (const id of [NOBODY, '42', '9007199254740990', "'%20or%201=1", `${mine}x`])
      assertRefused(await get(`/v1/activities/${id}`), 404, 'PACE_NOT_FOUND')
    assert.deepEqual((await get('/v1/activities', theirs)).json(), { items: [], nextCursor: null })
  })
})

describe('an entry by hand', () => {
  const entry = { sport: 'Yoga', name: ' Stretching ', start: '2020-02-03T06:05:06+02:00', elapsedSeconds: 1800 }
  const post = async (payload: object): Promise<Answer> =>
    await app.inject({ method: 'POST', url: '/v1/activities', headers: as.athlete, payload })

  test('is stored without an external id, and has no streams from the start', async () => {
    const made = await post({ ...entry, distanceMeters: 12.5, id: NOBODY, vendor: 'strava' })
    assert.equal(made.statusCode, 201, made.body)
    const { id, ...rest } = made.json<{ id: string }>()
    assert(isId(id) && id !== NOBODY)
    assert.deepEqual(rest, {
      vendor: 'manual',
      externalId: null,
      name: 'Stretching',
      sport: 'Yoga',
      start: '2020-02-03T04:05:06.000Z',
      timezone: null,
      elapsedSeconds: 1800,
      movingSeconds: null,
      distanceMeters: 12.5,
      manual: true,
      detailed: false,
      streams: 'unavailable',
      processing: null,
    })
    assert.deepEqual((await page('/v1/activities?to=2021-01-01')).items, [{ id, ...rest }])
    assert.deepEqual(await names('streams=unavailable'), ['Stretching'])
    assert.deepEqual((await get(`/v1/activities/${id}`)).json(), { id, ...rest, description: null, laps: [], photos: [] })
  })

  test('needs no distance', async () => {
    assert.equal((await post(entry)).json<{ distanceMeters: unknown }>().distanceMeters, null)
  })

  for (const [field, wrong] of [
    ['sport', undefined],
    ['sport', ''],
    ['name', ' '],
    ['name', 'a\0b'],
    ['start', '2020-02-03'],
    ['start', '2020-02-30T00:00:00Z'],
    ['elapsedSeconds', 1.5],
    ['elapsedSeconds', -1],
    ['elapsedSeconds', 2 ** 31],
    ['elapsedSeconds', '60'],
    ['distanceMeters', -1],
    ['distanceMeters', null],
  ] as const) {
    test(`with ${field} ${JSON.stringify(wrong)} is refused by the field's name`, async () => {
      const { details } = assertRefused(await post({ ...entry, [field]: wrong }), 400, 'PACE_BAD_REQUEST')
      assert.match(String(details), new RegExp(`^${field}: `))
    })
  }
})

describe('check-ins', () => {
  test('are listed newest first, page by page', async () => {
    assert.deepEqual(await pages('/v1/checkins', 2), [['c3', 'c2'], ['c1']])
    const { id, ...rest } = (await page('/v1/checkins')).items[0] ?? { id: '' }
    assert(isId(id))
    assert.deepEqual(rest, {
      vendor: 'foursquare',
      externalId: 'c3',
      at: new Date(DAY + 3000).toISOString(),
      venue: { id: 'v', name: 'Iron Yard', location: { lat: 1.5, lng: 2 } },
      shout: null,
      timezoneOffsetMinutes: -300,
    })
    assertRefused(await get('/v1/checkins?cursor=x'), 400, 'PACE_BAD_REQUEST')
  })
})
