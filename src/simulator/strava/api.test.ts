import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../../kernel/clock.ts'
import { connect, type OAuthSession } from '../oauth-client.ts'
import { openSimulator, type Simulator } from '../simulator.ts'

const NOW = Date.UTC(2026, 9, 1, 12)

interface Item {
  readonly id: number
  readonly name: string
  readonly start_date: string
  readonly manual: boolean
  readonly private: boolean
  readonly trainer: boolean
  readonly total_photo_count: number
  readonly start_latlng: number[]
  readonly moving_time: number
  readonly elapsed_time: number
  readonly distance: number
}

const visit = async (simulator: Simulator, tick?: readonly string[]): Promise<OAuthSession> =>
  await connect(
    { fetch: simulator.fetch, base: 'http://simulator' },
    'strava',
    tick === undefined ? {} : { scopes: tick.join(','), tick },
  )

async function opened(
  options = {},
): Promise<{ simulator: Simulator; strava: OAuthSession; list: (query: string) => Promise<Item[]> }> {
  const limits = { read: [9999, 9999], overall: [9999, 9999] } as const
  const simulator = openSimulator({ clock: new VirtualClock(NOW), activities: 120, nights: 0, limits, ...options })
  const strava = await visit(simulator)
  return {
    simulator,
    strava,
    list: async query => (await (await strava.request('GET', `/api/v3/athlete/activities?${query}`)).json()) as Item[],
  }
}

const second = ({ start_date: at }: Item): number => Date.parse(at) / 1000
const isDescending = (items: readonly Item[]): boolean =>
  items.every((item, index) => index === 0 || second(item) <= second(items[index - 1] ?? item))

test('the list is newest first, pages of thirty, and an empty page ends it', async () => {
  const { list } = await opened()
  const first = await list('')
  assert.equal(first.length, 30)
  const pages = [
    await list('per_page=50&page=1'),
    await list('per_page=50&page=2'),
    await list('per_page=50&page=3'),
    await list('per_page=50&page=4'),
  ]
  assert.deepEqual(
    pages.map(page => page.length),
    [50, 50, 20, 0],
  )
  const all = pages.flat()
  assert(isDescending(all))
  assert.equal(new Set(all.map(({ id }) => id)).size, 120)
  assert(
    !all.every((item, index) => index === 0 || item.id < (all[index - 1]?.id ?? 0)),
    'late uploads are not in the order of their ids',
  )
})

test('after alone lists oldest first, with before newest first, both bounds outside', async () => {
  const { list } = await opened()
  const all = await list('per_page=200')
  const [newer, older] = [all[20], all[60]]
  assert(newer !== undefined && older !== undefined)
  const after = await list(`after=${second(older)}&per_page=200`)
  assert(isDescending(after.toReversed()) && !isDescending(after))
  assert(after.every(item => second(item) > second(older)))
  const between = await list(`after=${second(older)}&before=${second(newer)}&per_page=200`)
  assert(isDescending(between) && between.every(item => second(item) > second(older) && second(item) < second(newer)))
  const inclusive = await opened({ quirks: { inclusiveBounds: true } })
  assert.equal(
    (await inclusive.list(`after=${second(older)}&before=${second(newer)}&per_page=200`)).length > between.length,
    true,
  )
})

test('milliseconds in after are a 400 that says future', async () => {
  const { strava } = await opened()
  const answer = await strava.request('GET', `/api/v3/athlete/activities?after=${NOW}`)
  assert.equal(answer.status, 400)
  assert.match(await answer.text(), /"Application","field":"after","code":"future"/)
})

test('without activity:read_all private activities are neither listed nor found', async () => {
  const { simulator, strava, list } = await opened()
  const hidden = (await list('per_page=200')).find(item => item.private)
  assert(hidden !== undefined)
  assert.equal((await strava.request('GET', `/api/v3/activities/${hidden.id}`)).status, 200)
  const narrow = await visit(simulator, ['read', 'activity:read'])
  const seen = (await (await narrow.request('GET', '/api/v3/athlete/activities?per_page=200')).json()) as Item[]
  assert(seen.length > 0 && !seen.some(item => item.private))
  assert.equal((await narrow.request('GET', `/api/v3/activities/${hidden.id}`)).status, 404)
})

test('list, detail and streams of an activity agree', async () => {
  const { strava, list } = await opened()
  const all = await list('per_page=200')
  const outdoors = all.find(item => item.start_latlng.length === 2 && !item.manual)
  assert(outdoors !== undefined)
  const detail = (await (await strava.request('GET', `/api/v3/activities/${outdoors.id}`)).json()) as Item & {
    laps: { end_index: number }[]
  }
  for (const key of ['distance', 'moving_time', 'elapsed_time'] as const) assert.equal(detail[key], outdoors[key])
  const keys = 'time,distance,latlng,altitude,velocity_smooth,heartrate,cadence,watts,temp,moving,grade_smooth'
  const answer = await strava.request('GET', `/api/v3/activities/${outdoors.id}/streams?keys=${keys}&key_by_type=true`)
  const streams = (await answer.json()) as Record<string, { data: unknown[]; original_size: number }>
  const length = streams['time']?.data.length ?? 0
  assert(Object.keys(streams).length >= 9)
  for (const { data, original_size: size } of Object.values(streams)) assert.deepEqual([data.length, size], [length, length])
  assert.equal(streams['distance']?.data.at(-1), outdoors.distance)
  assert.equal(detail.laps.at(-1)?.end_index, length - 1)
})

test('what has no samples has no streams; a treadmill has no coordinates', async () => {
  const { strava, list } = await opened()
  const all = await list('per_page=200')
  const [manual, treadmill] = [all.find(item => item.manual), all.find(item => item.trainer && !item.manual)]
  assert(manual !== undefined && treadmill !== undefined)
  const none = await strava.request('GET', `/api/v3/activities/${manual.id}/streams?keys=time&key_by_type=true`)
  assert.deepEqual([none.status, await none.json()], [404, { message: 'Resource Not Found', errors: [] }])
  assert.deepEqual(treadmill.start_latlng, [])
  const indoor = (await (
    await strava.request('GET', `/api/v3/activities/${treadmill.id}/streams?keys=time,latlng&key_by_type=true`)
  ).json()) as object
  assert.deepEqual(Object.keys(indoor), ['time', 'distance'])
  const listed = (await (await strava.request('GET', `/api/v3/activities/${treadmill.id}/streams`)).json()) as { type: string }[]
  assert.deepEqual(
    listed.map(({ type }) => type),
    ['distance'],
  )
})

test('an update shows in later answers, is counted, and needs activity:write', async () => {
  const { simulator, strava, list } = await opened()
  const [item] = await list('per_page=1')
  const put = await strava.request('PUT', `/api/v3/activities/${item?.id}`, {
    name: 'Renamed',
    description: 'By hand',
    gear_id: 'none',
  })
  assert.equal(put.status, 200)
  assert.equal((await list('per_page=1'))[0]?.name, 'Renamed')
  const detail = (await (await strava.request('GET', `/api/v3/activities/${item?.id}`)).json()) as {
    description: string
    gear_id: unknown
  }
  assert.deepEqual([detail.description, detail.gear_id], ['By hand', null])
  assert.equal(simulator.control.state().strava.updates[String(item?.id)], 1)
  const narrow = await visit(simulator, ['read', 'activity:read_all'])
  const refused = await narrow.request('PUT', `/api/v3/activities/${item?.id}`, { name: 'No' })
  assert.equal(refused.status, 401)
  assert.match(await refused.text(), /activity:write_permission/)
})

test('photos are named by the size asked for, and there to fetch', async () => {
  const { simulator, strava, list } = await opened({ publicUrl: 'http://simulator' })
  const pictured = (await list('per_page=200')).find(item => item.total_photo_count > 0)
  const photos = (await (
    await strava.request('GET', `/api/v3/activities/${pictured?.id}/photos?size=5000&photo_sources=true`)
  ).json()) as { urls: Record<string, string> }[]
  assert.equal(photos.length, pictured?.total_photo_count)
  const image = await simulator.fetch(new Request(photos[0]?.urls['5000'] ?? 'about:blank'))
  assert.equal(image.headers.get('content-type'), 'image/png')
})

test('ids above 2^53 travel as whole numbers', async () => {
  const { strava } = await opened({ bigIds: true, activities: 10 })
  const text = await (await strava.request('GET', '/api/v3/athlete/activities')).text()
  const ids = [...text.matchAll(/"id":(\d{16,})/g)].map(found => found[1] ?? '')
  assert.equal(ids.length, 10)
  assert(ids.every(id => BigInt(id) > 2n ** 53n))
  assert(
    ids.some(id => String(Number(id)) !== id),
    'at least one does not survive a JavaScript number',
  )
  assert.equal((await strava.request('GET', `/api/v3/activities/${ids[0]}`)).status, 200)
})

test('another athlete’s activity is not there', async () => {
  const { simulator, strava, list } = await opened()
  const [mine] = await list('per_page=1')
  simulator.control.addAthlete({ activities: 3 })
  const other = await visit(simulator)
  assert.equal((await other.request('GET', `/api/v3/activities/${mine?.id}`)).status, 404)
  assert.equal((await strava.request('GET', `/api/v3/activities/${mine?.id}`)).status, 200)
})

test('nothing is broken unless ordered', async () => {
  const { strava, list } = await opened({ activities: 30 })
  for (const { id } of await list('')) assert.equal((await strava.request('GET', `/api/v3/activities/${id}`)).status, 200)
})

test('each broken activity is broken in its own way, for good', async () => {
  const { strava, list } = await opened({ activities: 40, broken: 5 })
  const ways = new Map<string, number>()
  for (const { id, manual } of await list('per_page=40')) {
    if (manual) continue
    const path = `/api/v3/activities/${id}`
    const way =
      (await strava.request('GET', path)).status === 500
        ? 'detail 500'
        : await streamsOf(strava, `${path}/streams?keys=time,heartrate&key_by_type=true`)
    if (way !== 'whole') ways.set(way, (ways.get(way) ?? 0) + 1)
  }
  assert.deepEqual(Object.fromEntries(ways), { 'detail 500': 1, 'lengths differ': 1, empty: 1, 'no JSON': 1, 'streams 500': 1 })
})

async function streamsOf(strava: OAuthSession, path: string): Promise<string> {
  const answer = await strava.request('GET', path)
  if (answer.status === 500) return 'streams 500'
  const text = await answer.text()
  if (!text.endsWith('}}')) return 'no JSON'
  const lengths = Object.values(JSON.parse(text) as Record<string, { data: unknown[] }>).map(({ data }) => data.length)
  if (lengths.every(length => length === 0)) return 'empty'
  return new Set(lengths).size === 1 ? 'whole' : 'lengths differ'
}
