// What people who had not written it found by attacking imports that reconcile: who waits is forgotten, what is asked for ever, what is
// deleted too soon. Each once, on both databases.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Database } from '../../src/db/db.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../durations.ts'
import type { ImportWorld, Process } from '../import-world.ts'
import {
  assertWhole,
  DETAIL,
  detailsAsked,
  eventsOf,
  idsOf,
  LIST,
  SMALL,
  stored,
  synced,
  WIDE,
  worlds,
} from './imports-fixture.ts'

const DELETED = 'athlete-ally.activity.deleted'
const NARROW = { untick: ['activity:read_all'] }

const daysAgo = (the: ImportWorld, days: number): string => new Date(the.clock.now() - days * DAY_MS).toISOString()

/** Time in which nothing runs, and then ten minutes in which something does. */
async function later(the: ImportWorld, process: Process, ms: number): Promise<Process> {
  await process.stop()
  await the.clock.sleep(ms)
  const next = the.process()
  await next.start()
  await the.clock.sleep(10 * MINUTE_MS)
  return next
}

/** The list leaves these out; their details are there. */
function omitting(the: ImportWorld, ids: ReadonlySet<string>): void {
  the.onItsWay = async (path, response) => {
    if (!LIST.test(path) || response.status !== 200) return response
    const entries = (await response.json()) as { id: number }[]
    const headers = response.headers
    return Response.json(
      entries.filter(({ id }) => !ids.has(String(id))),
      { headers },
    )
  }
}

const jobsOf = async (process: Process, athleteId: string): Promise<number> =>
  (await process.imports.list(athleteId, { after: undefined, limit: 50 })).length

export function importsAttackedContract(name: string, open: () => Promise<Database>): void {
  describe(`imports under attack: ${name}`, () => {
    const world = worlds(open)

    test('whose whole look has to wait is polled meanwhile', async () => {
      // Of 190 calls a day whole looks get 9, polls 28: a look every five hours, a poll every two.
      const the = await world({ activities: 3, pollMinutes: 60, limits: { read: [100, 200], overall: [200, 400] } })
      await the.run(async () => {
        const first = the.process()
        const ids = [await the.connect(first)]
        for (let more = 0; more < 3; more++) {
          the.simulator.control.addAthlete({ activities: 3 })
          ids.push(await the.connect(first))
        }
        await first.start()
        for (const id of ids) await the.untilDone(first, id)
        const before = await Promise.all(ids.map(id => jobsOf(first, id)))
        const process = await later(the, first, 8 * DAY_MS)
        await the.clock.sleep(8 * HOUR_MS)
        await process.stop()
        const since = await Promise.all(ids.map(async (id, index) => (await jobsOf(process, id)) - (before[index] ?? 0)))
        assert(
          since.every(count => count >= 1),
          `${since.join(', ')} imports`,
        )
      })
    })

    test('an import that a person asks for takes nothing of the share of the others', async () => {
      const the = await world({ activities: 3, pollMinutes: 60, ...WIDE })
      await the.run(async () => {
        const first = await synced(the)
        const paid = async (): Promise<string[]> =>
          (await the.database.query<{ type: string }>('select type from poll_share order by type')).map(({ type }) => type)
        await first.imports.start(the.athleteId, 'strava', { type: 'full' })
        await the.untilDone(first)
        assert.deepEqual(await paid(), [])
        const process = await later(the, first, 7 * DAY_MS)
        await the.clock.sleep(2 * HOUR_MS)
        await process.stop()
        const rows = await the.database.query<{ type: string }>('select type from import_jobs order by id')
        assert.deepEqual(
          rows.slice(0, 4).map(({ type }) => type),
          ['full', 'full', 'full', 'incremental'],
        )
        assert.deepEqual(await paid(), ['full', 'incremental'])
      })
    })

    test('what a list leaves out and a detail shows is asked for once a day, and the import ends', async () => {
      const the = await world({ activities: 0, pollMinutes: 60, stepMs: MINUTE_MS, ...SMALL })
      for (let nth = 1; nth <= 16; nth++) the.simulator.control.addActivity({ start: daysAgo(the, nth / 4), seconds: 60 })
      await the.run(async () => {
        const process = await synced(the)
        const hidden = new Set(idsOf(await stored(the)).slice(0, 12))
        omitting(the, hidden)
        await the.clock.sleep(10 * HOUR_MS)
        await the.until(process, ['completed'])
        await process.stop()
        assert.equal(detailsAsked(the).length, hidden.size)
        assert.deepEqual(new Set(detailsAsked(the)), hidden)
      })
      await assertWhole(the, 16)
    })

    test('a permission that is taken back while an import is under way deletes nothing before a second look', async () => {
      const the = await world({ activities: 0, pollMinutes: 360, stepMs: MINUTE_MS, ...SMALL })
      for (let nth = 1; nth <= 16; nth++) the.simulator.control.addActivity({ start: daysAgo(the, nth), seconds: 60 })
      for (const days of [1.5, 2.5, 3.5]) the.simulator.control.addActivity({ start: daysAgo(the, days), private: true })
      await the.run(async () => {
        const process = the.process()
        await the.connect(process)
        await process.start()
        await the.untilPaused(process)
        await the.consent(process.connections, the.athleteId, NARROW)
        await the.untilDone(process)
        await the.clock.sleep(2 * HOUR_MS)
        assert.equal((await stored(the)).length, 19)
        const jobs = await process.imports.list(the.athleteId, { after: undefined, limit: 9 })
        assert(
          jobs.some(({ problems }) => problems.some(({ externalId }) => externalId === 'history')),
          'it is told',
        )
        let next = await later(the, process, DAY_MS)
        next = await later(the, next, 8 * HOUR_MS)
        await next.stop()
        assert.equal(await eventsOf(the, DELETED), 3)
      })
      assert.equal((await stored(the)).length, 16)
    })

    test('a vendor that shows nothing at all while details are fetched costs at most twenty, and the rest is kept and told', async () => {
      const the = await world({ activities: 0, ...WIDE })
      for (let nth = 1; nth <= 60; nth++) the.simulator.control.addActivity({ start: daysAgo(the, nth), seconds: 60 })
      await the.run(async () => {
        const process = await synced(the)
        await the.clock.sleep(MINUTE_MS)
        for (const id of idsOf(await stored(the))) the.simulator.control.changeActivity(id, { name: 'Renamed' })
        let isBlind = false
        the.onItsWay = (path, response) => {
          isBlind ||= DETAIL.test(path)
          const none = LIST.test(path)
            ? Response.json([], { headers: response.headers })
            : Response.json({ errors: [] }, { status: 404 })
          return Promise.resolve(isBlind && !path.endsWith('/token') ? none : response)
        }
        await process.imports.start(the.athleteId, 'strava', { type: 'full' })
        const view = await the.untilDone(process)
        await process.stop()
        assert.equal((await stored(the)).length, 40)
        assert.equal(view.problems.length, 40)
      })
    })

    test('a permission that is taken back while details are fetched, without a pause, deletes nothing', async () => {
      const the = await world({ activities: 0, latencyMs: 1_000, ...WIDE })
      for (let nth = 1; nth <= 20; nth++) the.simulator.control.addActivity({ start: daysAgo(the, nth), private: nth > 10 })
      await the.run(async () => {
        const process = the.process()
        await the.connect(process)
        let details = 0
        const narrowed = Promise.withResolvers<void>()
        the.onAnswer = path => {
          if (DETAIL.test(path) && ++details === 5)
            void the.consent(process.connections, the.athleteId, NARROW).then(narrowed.resolve, narrowed.reject)
        }
        await process.start()
        await narrowed.promise
        const view = await the.untilDone(process)
        await process.stop()
        assert.equal(view.problems.length, 10)
        assert.equal((await stored(the)).length, 20)
        assert.equal(await eventsOf(the, DELETED), 0)
      })
    })

    test('a permission that is taken back while edited details are owed deletes nothing, and they come when it is given again', async () => {
      const the = await world({ activities: 0, stepMs: MINUTE_MS, ...SMALL })
      for (let nth = 1; nth <= 10; nth++) the.simulator.control.addActivity({ start: daysAgo(the, nth), seconds: 60 })
      const secrets = [0.5, 1.5, 2.5].map(
        days => the.simulator.control.addActivity({ start: daysAgo(the, days), private: true })?.id ?? '',
      )
      await the.run(async () => {
        const process = await synced(the)
        await the.clock.sleep(20 * MINUTE_MS)
        for (const id of idsOf(await stored(the))) the.simulator.control.changeActivity(id, { name: 'Renamed' })
        for (let nth = 0; nth < 20; nth++)
          the.simulator.control.addActivity({ start: daysAgo(the, 0.01 + nth / 1000), seconds: 10 })
        await process.imports.start(the.athleteId, 'strava', { type: 'incremental' })
        await the.untilPaused(process)
        await the.consent(process.connections, the.athleteId, NARROW)
        await the.clock.sleep(2 * HOUR_MS)
        assert.equal(await eventsOf(the, DELETED), 0)
        the.asked.length = 0
        await the.consent(process.connections)
        await the.clock.sleep(2 * HOUR_MS)
        await process.stop()
        assert.deepEqual(new Set(detailsAsked(the)), new Set(secrets))
      })
      await assertWhole(the, 33)
    })

    test('a full import that takes one over which failed while it fetched reads the whole list', async () => {
      const the = await world({ activities: 20, ...SMALL })
      await the.run(async () => {
        const process = the.process()
        await the.connect(process)
        await process.start()
        await the.untilPaused(process)
        the.simulator.control.deauthorise('strava')
        await the.until(process, ['failed'])
        await process.stop()
        await the.clock.sleep(35 * DAY_MS)
        const late = the.simulator.control.addActivity({ start: daysAgo(the, 900) })
        const oldest = idsOf(await stored(the)).at(-1) ?? ''
        the.simulator.control.deleteActivity(oldest)
        await the.consent(process.connections)
        await process.start()
        await the.until(process, ['completed'])
        await process.stop()
        const ids = idsOf(await stored(the))
        assert(late !== undefined && ids.includes(late.id) && !ids.includes(oldest))
        assert.equal(new Set(detailsAsked(the)).size, detailsAsked(the).length)
      })
      await assertWhole(the, 20)
    })

    test('a retention that becomes shorter while a list is read makes nothing missing', async () => {
      const the = await world({ activities: 0, ...WIDE })
      for (let nth = 1; nth <= 230; nth++) the.simulator.control.addActivity({ start: daysAgo(the, nth), seconds: 60 })
      await the.run(async () => {
        const first = await synced(the)
        await first.stop()
        await the.clock.sleep(HOUR_MS)
        let days: number | undefined
        const process = the.process({ retentionDays: () => days })
        the.onAnswer = path => {
          if (LIST.test(path)) days = 90
        }
        await process.imports.start(the.athleteId, 'strava', { type: 'full' })
        await process.start()
        const view = await the.untilDone(process)
        await process.stop()
        assert.deepEqual(view.problems, [])
        assert.equal(the.requests(LIST).length, 2, 'the page after that is the last')
        const marked = await the.database.query('select from activity where missing_since is not null')
        assert.deepEqual(marked, [])
      })
    })

    test('what the list shows again may be missed again at once', async () => {
      const the = await world({ activities: 0, ...WIDE })
      for (let nth = 1; nth <= 10; nth++) the.simulator.control.addActivity({ start: daysAgo(the, nth), seconds: 60 })
      await the.run(async () => {
        const process = await synced(the)
        const [odd = ''] = idsOf(await stored(the))
        const look = async (): Promise<void> => {
          await the.clock.sleep(HOUR_MS)
          await process.imports.start(the.athleteId, 'strava', { type: 'full' })
          await the.untilDone(process)
        }
        omitting(the, new Set([odd]))
        await look()
        omitting(the, new Set())
        await look()
        the.simulator.control.deleteActivity(odd)
        await look()
        await process.stop()
        assert(!idsOf(await stored(the)).includes(odd))
      })
      await assertWhole(the, 9)
    })

    test('a look between keeps the second one to a day, and asks for nothing that waits', async () => {
      const the = await world({ activities: 0, pollMinutes: 360, ...WIDE })
      for (let nth = 1; nth <= 12; nth++) the.simulator.control.addActivity({ start: daysAgo(the, nth), seconds: 60 })
      for (const days of [2, 40, 400]) the.simulator.control.addActivity({ start: daysAgo(the, days), private: true })
      await the.run(async () => {
        const first = await synced(the)
        await the.consent(first.connections, the.athleteId, NARROW)
        const second = await later(the, first, MINUTE_MS)
        await the.clock.sleep(HOUR_MS)
        await second.imports.start(the.athleteId, 'strava', { type: 'full' })
        const between = await the.untilDone(second)
        assert.match(between.problems[0]?.reason ?? '', /^Strava no longer lists 3 of 15/)
        assert.deepEqual(the.requests(DETAIL), [])
        const third = await later(the, second, DAY_MS)
        await third.stop()
        assert.equal(await eventsOf(the, DELETED), 3)
      })
    })

    test('what is missing and out of our scopes is not ours: deleted, not asked for every day', async () => {
      const the = await world({ activities: 0, pollMinutes: 360, ...WIDE })
      for (let nth = 1; nth <= 12; nth++) the.simulator.control.addActivity({ start: daysAgo(the, nth), seconds: 60 })
      const secret = the.simulator.control.addActivity({ start: daysAgo(the, 40), private: true })
      the.onItsWay = (path, response) => {
        if (response.status !== 404 || path !== `/activities/${secret?.id}`) return Promise.resolve(response)
        const errors = [{ resource: 'AccessToken', field: 'activity:read_permission', code: 'missing' }]
        return Promise.resolve(Response.json({ message: 'Authorization Error', errors }, { status: 401 }))
      }
      await the.run(async () => {
        const first = await synced(the)
        await the.consent(first.connections, the.athleteId, NARROW)
        const second = await later(the, first, MINUTE_MS)
        const third = await later(the, second, DAY_MS)
        await third.stop()
        assert.deepEqual(detailsAsked(the), [secret?.id])
        assert.equal(await eventsOf(the, DELETED), 1)
      })
    })
  })
}
