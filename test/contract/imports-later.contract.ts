// After the first import: what is new, edited or deleted is found by itself, and what did not end is taken up, not begun anew.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Database } from '../../src/db/db.ts'
import type { ImportView } from '../../src/imports/imports.ts'
import type { Streams } from '../../src/streams/streams.ts'
import { HOUR_MS, DAY_MS } from '../durations.ts'
import type { ImportWorld, Process } from '../import-world.ts'
import {
  assertWhole,
  DETAIL,
  detailsAsked,
  eventsOf,
  idsOf,
  lastSyncOf,
  LIST,
  SMALL,
  stored,
  synced,
  worlds,
} from './imports-fixture.ts'

const ACTIVITIES = 12

async function incremental(the: ImportWorld, process: Process): Promise<ImportView> {
  const started = await process.imports.start(the.athleteId, 'strava', { type: 'incremental' })
  assert.equal(started.outcome, 'new')
  return await the.untilDone(process)
}

export function importsLaterContract(name: string, open: () => Promise<Database>): void {
  describe(`imports after the first: ${name}`, () => {
    const world = worlds(open)

    test('an incremental import finds what is new, edited and deleted, and asks for no other detail', async t => {
      const the = await world({ activities: ACTIVITIES })
      await the.run(async () => {
        const process = await synced(the)
        await the.clock.sleep(HOUR_MS)
        const [newest, next, third] = idsOf(await stored(the))
        assert(newest && next && third)
        const { control } = the.simulator
        control.changeActivity(newest, { name: 'Parkrun, a record' })
        control.deleteActivity(next)
        const added = control.addActivity({ name: 'Lunch Run' })
        // Recorded days ago, uploaded only now.
        const late = control.addActivity({ name: 'Late upload', start: new Date(the.clock.now() - 3 * DAY_MS).toISOString() })
        const news: string[] = []
        const onNews: Streams['arrived'] = async (athleteId, vendor, externalIds) => {
          assert.deepEqual([athleteId, vendor], [the.athleteId, 'strava'])
          // They are stored by then.
          const known = idsOf(await stored(the))
          news.push(...externalIds.filter(id => known.includes(id)))
        }
        t.mock.method(process.streams, 'arrived', onNews)
        const view = await incremental(the, process)
        assert.deepEqual(new Set(news), new Set([added?.id, late?.id]))
        assert.equal(view.job.type, 'incremental')
        // The edited one was imported before.
        assert.equal(view.message, 'Completed: 2 activities imported')
        assert.equal(view.progress.total, 2)
        // The one that the list does not show any more is asked for, to be sure.
        assert.equal(detailsAsked(the).length, 4)
        assert.deepEqual(new Set(detailsAsked(the)), new Set([newest, next, added?.id, late?.id]))
        await process.stop()
        const rows = await assertWhole(the, ACTIVITIES + 1)
        assert.equal(rows.find(({ id }) => id === newest)?.name, 'Parkrun, a record')
        assert(!idsOf(rows).includes(next))
        assert.equal(await eventsOf(the, 'athlete-ally.activity.deleted'), 1)
      })
    })

    test('with nothing new it asks for the list alone, and says so', async () => {
      const the = await world({ activities: ACTIVITIES })
      await the.run(async () => {
        const process = await synced(the)
        await the.clock.sleep(HOUR_MS)
        const view = await incremental(the, process)
        assert.equal(view.message, 'Completed: no new activities')
        assert.equal(the.asked.length, the.requests(LIST).length)
        assert.equal(await eventsOf(the, 'athlete-ally.activity.deleted'), 0)
        await process.stop()
      })
      await assertWhole(the, ACTIVITIES)
    })

    test('the oldest of a short history, deleted, is seen too', async () => {
      const the = await world({ activities: 0 })
      for (const daysAgo of [1, 2, 3])
        the.simulator.control.addActivity({ start: new Date(the.clock.now() - daysAgo * DAY_MS).toISOString() })
      await the.run(async () => {
        const process = await synced(the)
        await the.clock.sleep(60_000)
        const oldest = idsOf(await stored(the)).at(-1) ?? ''
        the.simulator.control.deleteActivity(oldest)
        await incremental(the, process)
        await process.stop()
        assert(!idsOf(await stored(the)).includes(oldest))
      })
      await assertWhole(the, 2)
    })

    test('an incremental import comes by itself when the last one is old enough', async () => {
      const the = await world({ activities: ACTIVITIES, pollMinutes: 30 })
      await the.run(async () => {
        const process = await synced(the)
        the.simulator.control.addActivity({ name: 'Lunch Run' })
        await the.clock.sleep(25 * 60_000)
        assert.equal(the.asked.length, 0)
        await the.clock.sleep(10 * 60_000)
        await process.stop()
        assert.equal((await stored(the))[0]?.name, 'Lunch Run')
      })
    })

    test('the last sync moves when the import is complete, to when it began', async () => {
      const the = await world({ activities: 20, ...SMALL })
      const process = the.process()
      await the.run(async () => {
        await the.connect(process)
        await process.start()
        const { job } = await the.untilPaused(process)
        assert.equal(await lastSyncOf(the), null)
        await the.untilDone(process)
        await process.stop()
        assert.deepEqual(await lastSyncOf(the), job.startedAt)
      })
    })

    test('a full import that lists nothing leaves it unset, and a full one comes by itself again', async () => {
      const the = await world({ activities: 0, pollMinutes: 30 })
      const process = the.process()
      await the.run(async () => {
        await the.connect(process)
        await process.start()
        const view = await the.untilDone(process)
        assert.equal(view.message, 'Completed: no new activities')
        assert.equal(await lastSyncOf(the), null)
        the.simulator.control.addActivity({ start: '2020-03-01T10:00:00Z' })
        await the.clock.sleep(HOUR_MS)
        await process.stop()
        const jobs = await process.imports.list(the.athleteId, { after: undefined, limit: 9 })
        assert.deepEqual(jobs.map(({ job }) => job.type).slice(-2), ['full', 'full'])
        assert.notEqual(await lastSyncOf(the), null)
      })
      await assertWhole(the, 1)
    })

    test('a new consent takes up what the failed import had; only what is missing is asked for', async () => {
      const the = await world({ activities: 20, ...SMALL })
      await the.run(async () => {
        const process = await failed(the)
        const before = detailsAsked(the)
        the.simulator.control.addActivity({ name: 'Meanwhile' })
        await the.consent(process.connections)
        const started = await process.imports.start(the.athleteId, 'strava', { type: 'full' })
        assert(started.outcome === 'new')
        assert.equal(started.job.cursor['activities_imported'], before.length)
        assert.equal(started.job.total, 20)
        const view = await the.untilDone(process)
        await process.stop()
        assert.equal(view.message, 'Completed: 21 activities imported')
        assert.equal(new Set(detailsAsked(the)).size, detailsAsked(the).length)
      })
      await assertWhole(the, 21)
    })

    test('with restart: true it begins anew, and still asks for no detail that is here', async () => {
      const the = await world({ activities: 20, ...SMALL })
      await the.run(async () => {
        const process = await failed(the)
        await the.consent(process.connections)
        const started = await process.imports.start(the.athleteId, 'strava', { type: 'full', restart: true })
        assert(started.outcome === 'new')
        assert.deepEqual(started.job.cursor, {})
        await the.untilDone(process)
        await process.stop()
        assert.equal(detailsAsked(the).length, 20)
      })
      await assertWhole(the, 20)
    })

    test('a list that broke off comes to its end later, and what came meanwhile is not left out', async () => {
      const the = await world({ activities: 5 })
      await the.run(async () => {
        const [process, later] = [the.process(), the.process()]
        await the.connect(process)
        // One page is in when the consent is withdrawn.
        let pages = 0
        the.onAnswer = path => {
          if (LIST.test(path) && ++pages === 1) the.simulator.control.deauthorise('strava')
        }
        await process.start()
        assert.equal((await the.untilDone(process)).job.status, 'failed')
        assert.equal(the.requests(DETAIL).length, 0)
        await process.stop()
        await the.clock.sleep(30 * DAY_MS)
        the.simulator.control.addActivity({ name: 'Weeks later', start: new Date(the.clock.now() - 20 * DAY_MS).toISOString() })
        await the.consent(later.connections)
        await later.imports.start(the.athleteId, 'strava', { type: 'full' })
        await later.start()
        await the.untilDone(later)
        await later.stop()
      })
      await assertWhole(the, 6)
    })

    test('after a new consent the gap is filled without anybody asking', async () => {
      const the = await world({ activities: 20, ...SMALL, pollMinutes: 30 })
      await the.run(async () => {
        const process = await failed(the)
        await the.consent(process.connections)
        await the.until(process, ['completed'])
        await process.stop()
        assert.equal(detailsAsked(the).length, 20)
      })
      await assertWhole(the, 20)
    })

    test('who has no such connection is told so, and nothing starts', async () => {
      const the = await world({ activities: 1 })
      const process = the.process()
      await the.run(async () => {
        await the.connect(process)
        const { imports } = process
        assert.equal((await imports.start(the.athleteId, 'oura', { type: 'full' })).outcome, 'not_connected')
        assert.deepEqual(await imports.list(the.athleteId, { after: undefined, limit: 9 }), [])
      })
    })
  })
}

/** An import that lost its consent in its first pause. */
async function failed(the: ImportWorld): Promise<Process> {
  const process = the.process()
  await the.connect(process)
  await process.start()
  await the.untilPaused(process)
  the.simulator.control.deauthorise('strava')
  const { job } = await the.untilDone(process)
  assert.equal(job.status, 'failed')
  return process
}
