// What is stored comes to equal what the vendor has, and costs the calls that the differences need: by a look at the newest at every poll, at
// the whole list every week, on request and when the scopes change. Nothing is deleted on one word of the vendor.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Database } from '../../src/db/db.ts'
import type { ImportView } from '../../src/imports/imports.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../durations.ts'
import type { ImportWorld, Process } from '../import-world.ts'
import { assertWhole, DETAIL, detailsAsked, eventsOf, idsOf, LIST, stored, synced, WIDE, worlds } from './imports-fixture.ts'

const DELETED = 'athlete-ally.activity.deleted'
const DETAILS = 'GET /api/v3/activities/{id}'
const PRIVATE = 'activity:read_all'

const daysAgo = (the: ImportWorld, days: number): string => new Date(the.clock.now() - days * DAY_MS).toISOString()

async function full(the: ImportWorld, process: Process): Promise<ImportView> {
  const started = await process.imports.start(the.athleteId, 'strava', { type: 'full' })
  assert.equal(started.outcome, 'new')
  return await the.untilDone(process)
}

/** Time in which nothing runs: a sweep a minute would take a while. Gives another process. */
async function later(the: ImportWorld, process: Process, ms: number): Promise<Process> {
  await process.stop()
  await the.clock.sleep(ms)
  const next = the.process()
  await next.start()
  return next
}

/** Adds a history of its own: one activity a day, the newest yesterday. */
function daily(the: ImportWorld, days: number): void {
  for (let day = 1; day <= days; day++) the.simulator.control.addActivity({ start: daysAgo(the, day), seconds: 60 })
}

export function importsReconcileContract(name: string, open: () => Promise<Database>): void {
  describe(`imports that reconcile: ${name}`, () => {
    const world = worlds(open)

    test('what is past its retention is neither stored nor asked for, and polls do not bring it back', async () => {
      const the = await world({ activities: 0, pollMinutes: 360, retentionDays: 7, ...WIDE })
      daily(the, 40)
      await the.run(async () => {
        let process = the.process()
        await the.connect(process)
        await process.start()
        await the.untilDone(process)
        assert.equal((await stored(the)).length, 6)
        assert.equal(detailsAsked(the).length, 6)
        assert.equal(the.requests(LIST).length, 1, 'paging stops at the cutoff')
        the.asked.length = 0
        for (let day = 0; day < 3; day++) {
          process = await later(the, process, DAY_MS)
          await the.clock.sleep(10 * MINUTE_MS)
          await process.erasure.retain('strava')
        }
        await process.stop()
        assert(the.requests(LIST).length >= 3)
        assert.deepEqual(the.requests(DETAIL), [])
        assert.equal((await stored(the)).length, 3)
      })
    })

    test('five 404s in passing cost no activity and are not told', async () => {
      const the = await world({ activities: 30 })
      the.simulator.control.setFaults([{ vendor: 'strava', kind: 'not_found', route: DETAILS, times: 5 }])
      await the.run(async () => {
        const process = await synced(the)
        assert.deepEqual((await the.newest(process)).problems, [])
        await process.stop()
      })
      await assertWhole(the, 30)
    })

    test('a 404 alone keeps the activity, tells it, and is asked for again after a day', async () => {
      const the = await world({ activities: 6, pollMinutes: 60, ...WIDE })
      const odd = the.simulator.control.addActivity({ name: 'Here and not here' })
      assert(odd)
      the.simulator.control.setFaults([{ vendor: 'strava', kind: 'not_found', route: `/api/v3/activities/${odd.id}` }])
      await the.run(async () => {
        const process = await synced(the)
        assert.deepEqual((await the.newest(process)).problems, [
          { externalId: odd.id, reason: 'Strava lists it and says that it does not have it' },
        ])
        await the.clock.sleep(3 * HOUR_MS)
        assert.deepEqual(the.requests(DETAIL), [])
        the.simulator.control.clearFaults()
        const again = await later(the, process, DAY_MS)
        await the.clock.sleep(10 * MINUTE_MS)
        await again.stop()
        assert.deepEqual(detailsAsked(the), [odd.id])
        assert.equal(await eventsOf(the, DELETED), 0)
      })
      await assertWhole(the, 7)
    })

    test('an upload and a deletion far back are found by the week’s look at the whole list, for its pages and their details', async () => {
      const the = await world({ activities: 230, pollMinutes: 720, ...WIDE })
      await the.run(async () => {
        const first = await synced(the)
        const oldest = idsOf(await stored(the)).at(-1) ?? ''
        the.simulator.control.deleteActivity(oldest)
        const late = the.simulator.control.addActivity({ start: daysAgo(the, 900) })
        const second = await later(the, first, 6 * DAY_MS)
        await the.clock.sleep(10 * MINUTE_MS)
        const polled = the.requests(LIST).length
        assert.equal(polled, 1, 'a poll sees the newest alone')
        assert.deepEqual(detailsAsked(the), [])
        const process = await later(the, second, DAY_MS)
        await the.clock.sleep(HOUR_MS)
        const looks = (await process.imports.list(the.athleteId, { after: undefined, limit: 50 })).filter(
          ({ job }) => job.type === 'full',
        )
        await process.stop()
        assert.equal(looks.length, 2)
        assert.equal(looks[0]?.message, 'Completed: 1 activities imported')
        assert.deepEqual(new Set(detailsAsked(the)), new Set([oldest, late?.id]))
        assert.equal(detailsAsked(the).length, 2)
        assert.equal(the.requests(LIST).length - polled, 3, 'two pages and the empty one')
        assert.equal(await eventsOf(the, DELETED), 1)
      })
      await assertWhole(the, 230)
    })

    test('a full import that is asked for finds them at once', async () => {
      const the = await world({ activities: 20, ...WIDE })
      await the.run(async () => {
        const process = await synced(the)
        const oldest = idsOf(await stored(the)).at(-1) ?? ''
        the.simulator.control.deleteActivity(oldest)
        const late = the.simulator.control.addActivity({ start: daysAgo(the, 900) })
        await the.clock.sleep(MINUTE_MS)
        await full(the, process)
        await process.stop()
        assert.deepEqual(new Set(detailsAsked(the)), new Set([oldest, late?.id]))
        assert.equal(the.requests(LIST).length, 2)
      })
      await assertWhole(the, 20)
    })

    test('a consent to private activities brings all of them, however old', async () => {
      const the = await world({ activities: 0, ...WIDE })
      daily(the, 12)
      for (const days of [2, 40, 400, 900]) the.simulator.control.addActivity({ start: daysAgo(the, days), private: true })
      await the.run(async () => {
        const process = the.process()
        await the.connect(process, { untick: [PRIVATE] })
        await process.start()
        await the.untilDone(process)
        assert.equal((await stored(the)).length, 12)
        the.asked.length = 0
        await the.consent(process.connections)
        await the.clock.sleep(2 * MINUTE_MS)
        await process.stop()
        assert.equal(detailsAsked(the).length, 4)
      })
      await assertWhole(the, 16)
    })

    test('a permission that is taken back deletes nothing before a second look a day later, and it is told', async () => {
      const the = await world({ activities: 0, pollMinutes: 360, ...WIDE })
      daily(the, 12)
      for (const days of [2, 40, 400]) the.simulator.control.addActivity({ start: daysAgo(the, days), private: true })
      await the.run(async () => {
        const process = await synced(the)
        await the.clock.sleep(MINUTE_MS)
        await the.consent(process.connections, the.athleteId, { untick: [PRIVATE] })
        await the.clock.sleep(2 * MINUTE_MS)
        assert.match(
          (await the.newest(process)).problems[0]?.reason ?? '',
          /^Strava no longer lists 3 of 15 activities; they are kept until/,
        )
        const next = await later(the, process, 12 * HOUR_MS)
        await the.clock.sleep(10 * MINUTE_MS)
        assert.equal((await stored(the)).length, 15)
        assert.deepEqual(the.requests(DETAIL), [])
        const last = await later(the, next, 12 * HOUR_MS)
        await the.clock.sleep(10 * MINUTE_MS)
        await last.stop()
        assert.equal(detailsAsked(the).length, 3)
        assert.equal(await eventsOf(the, DELETED), 3)
      })
      await assertWhole(the, 12)
    })

    test('many that are gone at once are kept until a second look a day later agrees', async () => {
      const the = await world({ activities: 0, pollMinutes: 360, ...WIDE })
      daily(the, 60)
      await the.run(async () => {
        const process = await synced(the)
        for (const id of idsOf(await stored(the)).slice(0, 25)) the.simulator.control.deleteActivity(id)
        await the.clock.sleep(MINUTE_MS)
        const view = await full(the, process)
        assert.match(view.problems[0]?.reason ?? '', /^Strava no longer lists 25 of 60 activities/)
        const next = await later(the, process, 20 * HOUR_MS)
        await the.clock.sleep(10 * MINUTE_MS)
        assert.equal((await stored(the)).length, 60)
        assert.deepEqual(the.requests(DETAIL), [])
        const last = await later(the, next, 4 * HOUR_MS)
        await the.clock.sleep(10 * MINUTE_MS)
        await last.stop()
        assert.equal(detailsAsked(the).length, 25)
        assert.equal(await eventsOf(the, DELETED), 25)
      })
      await assertWhole(the, 35)
    })

    test('a list that hid much by mistake deletes nothing and costs no detail', async () => {
      const the = await world({ activities: 0, pollMinutes: 360, ...WIDE })
      daily(the, 60)
      let isShort = false
      the.onItsWay = async (path, response) => {
        if (!isShort || !LIST.test(path)) return response
        return Response.json(((await response.json()) as unknown[]).slice(30), { headers: response.headers })
      }
      await the.run(async () => {
        const process = await synced(the)
        await the.clock.sleep(MINUTE_MS)
        isShort = true
        assert.equal((await full(the, process)).problems.length, 1)
        isShort = false
        const next = await later(the, process, DAY_MS)
        await the.clock.sleep(10 * MINUTE_MS)
        await next.stop()
        assert(the.requests(LIST).length >= 4, 'the second look has been made')
        assert.deepEqual(the.requests(DETAIL), [])
        assert.equal(await eventsOf(the, DELETED), 0)
      })
      await assertWhole(the, 60)
    })

    test('an empty list is no empty history', async () => {
      const the = await world({ activities: 8, ...WIDE })
      the.onItsWay = (path, response) =>
        Promise.resolve(LIST.test(path) && isEmpty ? Response.json([], { headers: response.headers }) : response)
      let isEmpty = false
      await the.run(async () => {
        const process = await synced(the)
        await the.clock.sleep(MINUTE_MS)
        isEmpty = true
        await full(the, process)
        await process.stop()
        assert.equal(await eventsOf(the, DELETED), 0)
      })
      await assertWhole(the, 8)
    })

    test('a release that reads one more field asks for nothing again, and still sees an edit made meanwhile', async () => {
      const the = await world({ activities: 40, pollMinutes: 60, ...WIDE })
      await the.run(async () => {
        const process = await synced(the)
        // As the release before has left them: without the field, and compared without it.
        await the.database.query("update activity set summary = summary - 'device_watts', summary_version = 1")
        await the.clock.sleep(2 * HOUR_MS)
        assert(the.requests(LIST).length > 0)
        assert.deepEqual(the.requests(DETAIL), [])
        await the.database.query("update activity set summary = summary - 'device_watts', summary_version = 1")
        const [newest] = idsOf(await stored(the))
        the.simulator.control.changeActivity(newest ?? '', { name: 'Renamed during the upgrade' })
        await the.clock.sleep(2 * HOUR_MS)
        await process.stop()
        assert.deepEqual(detailsAsked(the), [newest])
      })
    })

    test('what the vendor works out later, such as an effort score, makes nothing be asked for again', async () => {
      const the = await world({ activities: 20, pollMinutes: 60, ...WIDE })
      let score = 0
      the.onItsWay = async (path, response) => {
        if (!LIST.test(path)) return response
        const entries = (await response.json()) as object[]
        return Response.json(
          entries.map(entry => ({ ...entry, suffer_score: (score += 1) })),
          { headers: response.headers },
        )
      }
      await the.run(async () => {
        const process = await synced(the)
        await the.clock.sleep(3 * HOUR_MS)
        await process.stop()
        assert.deepEqual(the.requests(DETAIL), [])
      })
    })

    test('a full import that is asked for while a poll runs comes after it, and nobody else is at work', async () => {
      const the = await world({ activities: 12, latencyMs: 5_000, stepMs: 1_000, ...WIDE })
      await the.run(async () => {
        const process = await synced(the)
        const poll = await process.imports.start(the.athleteId, 'strava', { type: 'incremental' })
        await the.until(process, ['started'])
        const asked = await process.imports.start(the.athleteId, 'strava', { type: 'full' })
        const again = await process.imports.start(the.athleteId, 'strava', { type: 'full' })
        const after = await process.imports.start(the.athleteId, 'strava', { type: 'incremental' })
        assert(poll.outcome === 'new' && asked.outcome === 'new' && again.outcome === 'running' && after.outcome === 'running')
        assert.deepEqual([again.job.id, after.job.id], [asked.job.id, asked.job.id])
        assert.equal((await process.imports.read(the.athleteId, asked.job.id))?.job.status, 'queued')
        const over = await the.untilDone(process)
        await process.stop()
        assert.equal(over.job.id, asked.job.id)
        const [first, second] = await Promise.all([poll, asked].map(({ job }) => finishedAt(the, job.id)))
        assert(first !== undefined && second !== undefined && first < second)
      })
      await assertWhole(the, 12)
    })

    test('whole looks of many athletes that fall due together are spread', async () => {
      const the = await world({ activities: 3, pollMinutes: 43_200 })
      await the.run(async () => {
        const first = the.process()
        const ids = [await the.connect(first)]
        for (let more = 0; more < 4; more++) {
          the.simulator.control.addAthlete({ activities: 3 })
          ids.push(await the.connect(first))
        }
        await first.start()
        for (const id of ids) await the.untilDone(first, id)
        the.asked.length = 0
        const process = await later(the, first, 7 * DAY_MS)
        await the.clock.sleep(4.5 * HOUR_MS)
        await process.stop()
        const at = the.asked.map(one => one.at)
        assert.equal(the.requests(LIST).length, 2 * ids.length)
        // Two calls of a twentieth of 950 a day.
        for (let look = 1; look < ids.length; look++)
          assert(Number(at[2 * look]) - Number(at[2 * look - 1]) >= (2 * DAY_MS) / (0.05 * 950) - MINUTE_MS)
      })
    })

    test('a whole look that does not come to its end is tried again after a day, not every minute', async () => {
      const the = await world({ activities: 3, pollMinutes: 43_200, ...WIDE })
      await the.run(async () => {
        const first = await synced(the)
        the.onItsWay = (path, response) =>
          Promise.resolve(LIST.test(path) ? Response.json({ message: 'Bad Request', errors: [] }, { status: 400 }) : response)
        const process = await later(the, first, 7 * DAY_MS)
        await the.clock.sleep(2 * HOUR_MS)
        assert.equal(the.requests(LIST).length, 1)
        assert.equal((await the.newest(process)).job.status, 'failed')
        the.onItsWay = (_, response) => Promise.resolve(response)
        const again = await later(the, process, 22 * HOUR_MS)
        await the.clock.sleep(10 * MINUTE_MS)
        await again.stop()
        assert.equal((await the.newest(process)).message, 'Completed: no new activities')
      })
    })

    test('Garmin’s history is asked for to its beginning, not to a whole range before it', async () => {
      const quirks = { garminHistoryDays: 100 }
      const the = await world({
        vendor: 'garmin',
        activities: 0,
        nights: 0,
        quirks,
        limits: { garmin: [10_000, 100_000] },
        stepMs: MINUTE_MS,
      })
      for (let day = 1; day <= 120; day++) the.simulator.control.addActivity({ start: daysAgo(the, day - 0.1), seconds: 60 })
      await the.run(async () => {
        const process = the.process()
        the.onWebhook = async request => {
          const headers = Object.fromEntries(request.headers)
          await process.inbox.receive('garmin', { headers, body: new Uint8Array(await request.arrayBuffer()) })
        }
        await the.connect(process, { tick: ['HISTORICAL_DATA_EXPORT'] })
        await process.start()
        const view = await the.untilDone(process)
        await process.stop()
        assert.equal(view.message, 'Completed: 100 activities imported')
        assert.deepEqual(view.problems, [])
        assert.equal((await stored(the)).length, 100)
        assert(the.requests(/\/backfill\//).length <= 3 * 20, `${the.requests(/\/backfill\//).length} requests`)
      })
    })
  })
}

async function finishedAt(the: ImportWorld, id: string): Promise<number | undefined> {
  const [row] = await the.database.query<{ at: Date }>('select finished_at as at from import_jobs where id = $1', [id])
  return row?.at.getTime()
}
