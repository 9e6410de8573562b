// What a client hears of an athlete's imports as they change: real sockets and real notifications, rows changed by hand.
import assert from 'node:assert/strict'
import { after, describe, test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import type { Database, Listener } from '../../db/db.ts'
import { hear, type Diagnostics } from '../../kernel/channels.ts'
import { SystemClock } from '../../kernel/clock.ts'
import { EventStream } from '../../../test/event-stream.ts'
import { bearer, linkOf, openHttp, tokenOf, type Headers } from '../../../test/http-fixture.ts'
import { eventually, until } from '../../../test/waiting.ts'
import type { HttpParts } from '../http.ts'
import { MOST_FEEDS } from '../live.ts'

const fixture = await openHttp()
const { accounts, activities, clock, database } = fixture
after(() => fixture.close())

/** Never within a test. */
const NEVER_MS = 3_600_000
const SELDOM = { beatMs: NEVER_MS, checkMs: NEVER_MS, passMs: 5 }

interface Served {
  readonly url: string
  readonly connections: () => Promise<number>
  readonly close: () => Promise<void>
}

async function served(t: TestContext, given: Partial<HttpParts> = {}): Promise<Served> {
  const app = await fixture.rebuild({ clock: new SystemClock(), liveTimes: SELDOM, ...given })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  t.after(() => app.close())
  const connections = promisify(app.server.getConnections.bind(app.server))
  return { url, connections, close: () => app.close() }
}

interface Someone {
  readonly id: string
  readonly headers: Headers
  readonly tokenId: string
}

async function someone(): Promise<Someone> {
  const { id } = await accounts.createAthlete({ name: 'Ada', timezone: null })
  const { id: tokenId, token } = await tokenOf(accounts, id)
  return { id, headers: bearer(token), tokenId }
}

/** Gives the import's id. */
async function importing({ id }: Someone): Promise<string> {
  const [row] = await database.query<{ id: string }>(
    `insert into import_jobs (id, athlete_id, vendor, type, status, sync_cursor, created_at, updated_at)
     values (gen_random_uuid(), $1, $2, 'full', 'queued', '{}', $3, $3) returning id`,
    [id, 'strava', new Date(clock.now())],
  )
  assert(row)
  return row.id
}

const claim = async (id: string): Promise<unknown> =>
  await database.query(`update import_jobs set status = 'started', total = 9 where id = $1`, [id])
const progress = async (id: string, imported: number): Promise<unknown> =>
  await database.query(`update import_jobs set sync_cursor = jsonb_build_object('activities_imported', $2::int) where id = $1`, [
    id,
    imported,
  ])
const complete = async (id: string): Promise<unknown> =>
  await database.query(`update import_jobs set status = 'completed', finished_at = $2 where id = $1`, [id, new Date(clock.now())])

const got = async ({ url }: Served, { headers }: Someone, id: string): Promise<unknown> =>
  await (await fetch(`${url}/v1/imports/${id}`, { headers })).json()

const isFor = (id: string) => (event: { data: Readonly<Record<string, unknown>> }) => event.data['id'] === id
const has = (id: string, status: string) => (event: { data: Readonly<Record<string, unknown>> }) =>
  event.data['id'] === id && event.data['status'] === status

describe('events', () => {
  test('come as a stream that nobody keeps or buffers', async t => {
    const { response } = await EventStream.open((await served(t)).url, (await someone()).headers)
    const names = ['content-type', 'cache-control', 'x-accel-buffering', 'connection', 'content-encoding']
    assert.deepEqual(
      names.map(name => response.headers.get(name)),
      ['text/event-stream', 'no-cache', 'no', 'close', null],
    )
  })

  test('name what happens to streams, as their GET answers but without the samples', async t => {
    const [server, ada] = [await served(t), await someone()]
    const start_date = '2026-01-01T08:00:00Z'
    await database.transaction(tx => activities.storeSummaries(tx, ada.id, 'strava', [{ id: '1', start_date }]))
    const [activity] = await database.query<{ id: string }>('select id from activity where athlete_id = $1', [ada.id])
    assert(activity)
    const stream = await EventStream.open(server.url, ada.headers)
    const told = async (status: string): Promise<unknown> =>
      (await stream.next(({ event, data }) => event === 'stream' && data['status'] === status)).data
    const nothing = { stream_data: null, channels_available: [], point_count: null, source: null, fetched_at: null }
    await database.query(`update activity set stream_fetch_status = 'fetching', stream_fetch_attempted_at = $2 where id = $1`, [
      activity.id,
      new Date(clock.now()),
    ])
    assert.deepEqual(await told('fetching'), { activity_id: activity.id, status: 'fetching', ...nothing })
    await database.transaction(async tx => {
      await tx.query(
        `insert into activity_stream (id, activity_id, stream_data, channels_available, point_count, source, fetched_at)
         values (gen_random_uuid(), $1, '{"time":[0,1]}', '["time"]', 2, 'strava', $2)`,
        [activity.id, new Date(start_date)],
      )
      await tx.query(`update activity set stream_fetch_status = 'success' where id = $1`, [activity.id])
    })
    const stored = {
      ...nothing,
      channels_available: ['time'],
      point_count: 2,
      source: 'strava',
      fetched_at: '2026-01-01T08:00:00.000Z',
    }
    assert.deepEqual(await told('success'), { activity_id: activity.id, status: 'success', ...stored })
  })

  test('are told of once, when they begin', async t => {
    const told: Diagnostics['paceline:request'][] = []
    const server = await served(t)
    t.after(hear('paceline:request', fact => told.push(fact)))
    const { headers } = await someone()
    const stream = await EventStream.open(server.url, headers)
    const seen = (): unknown[] => told.map(({ route, status }) => [route, status])
    assert.deepEqual(seen(), [['/v1/events', 200]])
    stream.leave()
    await until(async () => (await server.connections()) === 0)
    assert.deepEqual(seen(), [['/v1/events', 200]])
  })

  test('begin with what is under way, as its GET answers, and not with what has ended', async t => {
    const [server, ada] = [await served(t), await someone()]
    const ended = await importing(ada)
    await claim(ended)
    await complete(ended)
    const id = await importing(ada)
    const stream = await EventStream.open(server.url, ada.headers)
    assert.deepEqual(await stream.next(), { event: 'import', data: await got(server, ada, id) })
    await claim(id)
    await stream.next(isFor(id))
    assert(stream.events.every(({ data }) => data['id'] === id))
  })

  test('tell each move and each progress, down to the last', async t => {
    const [server, ada] = [await served(t), await someone()]
    const stream = await EventStream.open(server.url, ada.headers)
    await stream.comment()
    const id = await importing(ada)
    await stream.next(has(id, 'queued'))
    await claim(id)
    await stream.next(has(id, 'started'))
    await progress(id, 5)
    const five = await stream.next(({ data }) => data['message'] === 'Importing: 5 of 9 activities')
    assert.deepEqual(five.data, await got(server, ada, id))
    await complete(id)
    assert.deepEqual((await stream.next(has(id, 'completed'))).data, await got(server, ada, id))
  })

  test('tell of what was committed, and never of what was rolled back', async t => {
    const [server, ada] = [await served(t), await someone()]
    const id = await importing(ada)
    const stream = await EventStream.open(server.url, ada.headers)
    await stream.next(isFor(id))
    const undone = database.transaction(async tx => {
      await tx.query(`update import_jobs set total = 1 where id = $1`, [id])
      throw new Error('undone')
    })
    await assert.rejects(undone, /undone/)
    await claim(id)
    await stream.next(has(id, 'started'))
    assert.deepEqual(
      stream.events.map(({ data }) => data['status']),
      ['queued', 'started'],
    )
  })

  test('are for the athlete alone whose they are', async t => {
    const [server, ada, eve] = [await served(t), await someone(), await someone()]
    const [hers, other] = [await EventStream.open(server.url, ada.headers), await EventStream.open(server.url, eve.headers)]
    await Promise.all([hers.comment(), other.comment()])
    const id = await importing(ada)
    await hers.next(isFor(id))
    const evesId = await importing(eve)
    await other.next(isFor(evesId))
    assert.deepEqual([hers.events.length, other.events.length], [1, 1])
  })

  test('come to the operator too, who names the athlete, and to a cookie', async t => {
    const [server, ada] = [await served(t), await someone()]
    const id = await importing(ada)
    const session = await accounts.signIn(await linkOf(accounts, ada.id))
    const operator = { ...fixture.as.operator, 'x-paceline-athlete': ada.id }
    for (const headers of [operator, { cookie: `paceline_session=${session}` }]) {
      const stream = await EventStream.open(server.url, headers)
      await stream.next(isFor(id))
    }
  })

  test('have comments between them', async t => {
    const server = await served(t, { liveTimes: { ...SELDOM, beatMs: 5 } })
    const stream = await EventStream.open(server.url, (await someone()).headers)
    for (let n = 0; n < 4; n++) await stream.comment()
    assert.deepEqual(stream.events, [])
  })
})

describe('events end', () => {
  test('when the token is revoked', async t => {
    const server = await served(t, { liveTimes: { ...SELDOM, checkMs: 5 } })
    const [ada, eve] = [await someone(), await someone()]
    const [stream, other] = [await EventStream.open(server.url, ada.headers), await EventStream.open(server.url, eve.headers)]
    await accounts.revokeToken(ada.id, ada.tokenId)
    await stream.toEnd()
    const id = await importing(eve)
    await other.next(isFor(id))
  })

  test('when the session is over', async t => {
    const server = await served(t, { liveTimes: { ...SELDOM, checkMs: 5 } })
    const session = (await accounts.signIn(await linkOf(accounts, (await someone()).id))) ?? ''
    const stream = await EventStream.open(server.url, { cookie: `paceline_session=${session}` })
    await accounts.signOut(session)
    await stream.toEnd()
  })

  test('when the server stops, which does not wait for them', async t => {
    const [server, ada] = [await served(t), await someone()]
    await importing(ada)
    const streams = [await EventStream.open(server.url, ada.headers), await EventStream.open(server.url, ada.headers)]
    await streams[0]?.next()
    // Of a whole test's time the grace of a stop is little; that it is not used is seen by the second one, which is ended in good order.
    await server.close()
    for (const stream of streams) await stream.toEnd()
  })
})

describe('clients', () => {
  test(`are ${MOST_FEEDS} at a time for one athlete; who leaves makes room`, async t => {
    const [server, ada, eve] = [await served(t), await someone(), await someone()]
    const open = async (): Promise<EventStream> => await EventStream.open(server.url, ada.headers)
    const [first] = await Promise.all(Array.from({ length: MOST_FEEDS }, open))
    const refused = await fetch(`${server.url}/v1/events`, { headers: ada.headers })
    assert.equal(refused.status, 429)
    const { error, code } = (await refused.json()) as { error: string; code: string }
    assert.deepEqual([code, error.startsWith('This athlete already has 10 open connections')], ['PACE_TOO_MANY_FEEDS', true])
    await EventStream.open(server.url, eve.headers)
    first?.leave()
    await eventually(open)
  })

  test('that leave before it begins are forgotten too', async t => {
    const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const listen: Database['listen'] = async (channel, listener) => {
      asked.resolve()
      await gate.promise
      return await database.listen(channel, listener)
    }
    const server = await served(t, { database: { listen } })
    const { headers } = await someone()
    const leaving = new AbortController()
    const early = Array.from({ length: MOST_FEEDS }, () => fetch(`${server.url}/v1/events`, { headers, signal: leaving.signal }))
    await asked.promise
    leaving.abort()
    for (const request of early) await assert.rejects(request)
    gate.resolve()
    await eventually(() => EventStream.open(server.url, headers))
  })

  test('share one LISTEN, which ends with the application', async t => {
    const listener = counted()
    const server = await served(t, { database: listener })
    assert.deepEqual(listener.counts, { begun: 0, ended: 0 })
    const ada = await someone()
    for (let n = 0; n < 3; n++) await EventStream.open(server.url, ada.headers)
    assert.deepEqual(listener.counts, { begun: 1, ended: 0 })
    await server.close()
    assert.deepEqual(listener.counts, { begun: 1, ended: 1 })
  })

  test('hear the present state when notifications were lost, also of what has ended meanwhile', async t => {
    const listener = counted()
    const server = await served(t, { database: listener })
    const ada = await someone()
    const stream = await EventStream.open(server.url, ada.headers)
    await stream.comment()
    const id = await importing(ada)
    await stream.next(isFor(id))
    listener.isDeaf = true
    await claim(id)
    await complete(id)
    const next = await importing(ada)
    await until(() => listener.missed >= 3)
    listener.hear(undefined)
    await stream.next(isFor(next))
    if (!stream.events.some(has(id, 'completed'))) await stream.next(has(id, 'completed'))
  })

  test('hear nothing more of what was erased', async t => {
    const listener = counted()
    const server = await served(t, { database: listener })
    const ada = await someone()
    const gone = await importing(ada)
    const stream = await EventStream.open(server.url, ada.headers)
    await stream.next(isFor(gone))
    await database.query('delete from import_jobs where id = $1', [gone])
    listener.hear(JSON.stringify({ kind: 'import', athleteId: ada.id, id: gone }))
    listener.hear(undefined)
    const id = await importing(ada)
    await stream.next(isFor(id))
    assert.equal(stream.events.filter(isFor(gone)).length, 1)
  })

  test('hear it after a while even if nobody noticed the loss', async t => {
    const listener = counted()
    const server = await served(t, { database: listener, liveTimes: { ...SELDOM, checkMs: 5 } })
    const ada = await someone()
    const id = await importing(ada)
    const stream = await EventStream.open(server.url, ada.headers)
    await stream.next(isFor(id))
    listener.isDeaf = true
    await claim(id)
    await stream.next(has(id, 'started'))
  })

  test('are told when there is no listening, and may come again when there is', async t => {
    let isAway = true
    const listen: Database['listen'] = async (channel, listener) => {
      if (isAway) throw Object.assign(new Error('away'), { statusCode: 400 })
      return await database.listen(channel, listener)
    }
    const server = await served(t, { database: { listen } })
    const { headers } = await someone()
    assert.equal((await fetch(`${server.url}/v1/events`, { headers })).status, 400)
    isAway = false
    await EventStream.open(server.url, headers)
  })
})

interface Counted extends Pick<Database, 'listen'> {
  readonly counts: { begun: number; ended: number }
  isDeaf: boolean
  missed: number
  hear: Listener
}

/** The store's listening, counted; deaf, it loses what comes. */
function counted(): Counted {
  const it: Counted = {
    counts: { begun: 0, ended: 0 },
    isDeaf: false,
    missed: 0,
    hear: () => assert.fail('nobody listens'),
    listen: async (channel, listener) => {
      it.counts.begun++
      it.hear = listener
      const stop = await database.listen(channel, payload => {
        if (it.isDeaf) it.missed++
        else listener(payload)
      })
      return async () => {
        it.counts.ended++
        await stop()
      }
    },
  }
  return it
}
