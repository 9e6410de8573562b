// What a sceptical reader found to go wrong: things that are asked for again and again, athletes who starve others, deletions that were
// none. Each once, on every database.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Database } from '../../src/db/db.ts'
import { MINUTE_MS, HOUR_MS, DAY_MS } from '../durations.ts'
import type { ImportWorld } from '../import-world.ts'
import {
  assertWhole,
  DETAIL,
  detailsAsked,
  eventsOf,
  idsOf,
  LIST,
  PHOTOS,
  SMALL,
  stored,
  synced,
  worlds,
} from './imports-fixture.ts'

const DELETED = 'athlete-ally.activity.deleted'

type Entry = Record<string, unknown> & { id: number }

/** Changes the entries of every list on their way. */
function rewriting(the: ImportWorld, change: (entries: Entry[]) => unknown[]): void {
  the.onItsWay = async (path, response) => {
    if (!LIST.test(path) || response.status !== 200) return response
    return Response.json(change((await response.json()) as Entry[]), { headers: response.headers })
  }
}

export function importsRegressionsContract(name: string, open: () => Promise<Database>): void {
  describe(`lessons of imports: ${name}`, () => {
    const world = worlds(open)

    test('what cannot be had is left alone by polls for a day, then asked for once more; a full import asks at once', async () => {
      const the = await world({ activities: 4, pollMinutes: 60 })
      const bad = the.simulator.control.addActivity({ photos: 2 })
      const photoless = the.simulator.control.addActivity({ photos: 2 })
      assert(bad && photoless)
      const route = (path: string): string => `/api/v3/activities/${path}`
      const faults = [route(bad.id), route(`${photoless.id}/photos`)].map(
        each => ({ vendor: 'strava', route: each, kind: '5xx' }) as const,
      )
      await the.run(async () => {
        const process = the.process()
        await the.connect(process)
        the.simulator.control.setFaults(faults)
        await process.start()
        const view = await the.untilDone(process)
        assert.deepEqual(new Set(view.problems.map(({ externalId }) => externalId)), new Set([bad.id, photoless.id]))
        the.asked.length = 0
        await the.clock.sleep(5 * HOUR_MS)
        assert(the.requests(LIST).length >= 4)
        assert.deepEqual([...the.requests(DETAIL), ...the.requests(PHOTOS)], [])
        assert.equal((await the.newest(process)).progress.total, 0)
        await process.stop()
        await the.clock.sleep(DAY_MS)
        const again = the.process()
        await again.start()
        await the.clock.sleep(2 * HOUR_MS)
        // An attempt is a call and its retry: once in passing, once at the end.
        assert.deepEqual(new Set(detailsAsked(the)), new Set([bad.id]))
        assert(detailsAsked(the).length <= 4, `${detailsAsked(the).length} details`)
        the.simulator.control.clearFaults()
        await again.imports.start(the.athleteId, 'strava', { type: 'full' })
        await the.untilDone(again)
        await again.stop()
      })
      await assertWhole(the, 6)
    })

    test('photos that failed in passing are asked for once more at the end', async () => {
      const the = await world({ activities: 0 })
      const [one] = [the.simulator.control.addActivity({ photos: 2 }), the.simulator.control.addActivity({ photos: 1 })]
      assert(one)
      await the.run(async () => {
        const process = the.process()
        await the.connect(process)
        const route = `/api/v3/activities/${one.id}/photos`
        the.simulator.control.setFaults([{ vendor: 'strava', route, kind: '5xx', times: 2 }])
        await process.start()
        assert.deepEqual((await the.untilDone(process)).problems, [])
        await process.stop()
      })
      await assertWhole(the, 2)
    })

    test('who cannot be polled does not keep the others from it', async () => {
      const the = await world({ activities: 2, pollMinutes: 30 })
      await the.run(async () => {
        const process = the.process()
        const ids = [await the.connect(process)]
        the.simulator.control.addAthlete()
        ids.push(await the.connect(process))
        await process.start()
        for (const id of ids) await the.untilDone(process, id)
        const [failing = ''] = ids
        // A connection whose polls fail: they never move its last sync.
        await the.database.query(
          `create or replace function refuse() returns trigger language plpgsql as $$ begin
             if new.status = 'completed' and new.athlete_id = '${failing}' then raise exception 'refused'; end if; return new; end $$`,
        )
        await the.database.query('create trigger refuse before update on import_jobs for each row execute function refuse()')
        await the.clock.sleep(4 * HOUR_MS)
        const jobs = await process.imports.list(ids[1] ?? '', { after: undefined, limit: 50 })
        await process.stop()
        await the.database.query('drop trigger refuse on import_jobs')
        assert(jobs.length >= 4, `${jobs.length} imports of the healthy one`)
      })
    })

    test('an activity that the database does not take is parked, and the others come', async () => {
      const the = await world({ activities: 5 })
      await the.run(async () => {
        const process = the.process()
        await the.connect(process)
        await the.database.query(
          `create or replace function refuse() returns trigger language plpgsql as $$ begin
             if new.detailed_at is not null and new.name = 'Unstorable' then raise exception 'refused'; end if; return new; end $$`,
        )
        await the.database.query('create trigger refuse before update on activity for each row execute function refuse()')
        const odd = the.simulator.control.addActivity({ name: 'Unstorable' })
        await process.start()
        const view = await the.untilDone(process)
        await process.stop()
        await the.database.query('drop trigger refuse on activity')
        assert.deepEqual(view.problems, [{ externalId: odd?.id, reason: 'Paceline could not store it' }])
        assert.equal((await stored(the)).filter(({ isDetailed }) => isDetailed).length, 5)
      })
    })

    test('a fault of ours is tried more and more seldom, and ends with a sentence', async () => {
      const the = await world({ activities: 5 })
      await the.run(async () => {
        const process = the.process()
        await the.connect(process)
        await the.database.query(
          `create or replace function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`,
        )
        await the.database.query('create trigger refuse before insert on activity for each row execute function refuse()')
        await process.start()
        await the.clock.sleep(HOUR_MS)
        assert.match((await the.newest(process)).message, /^Paceline has a fault of its own, next try at \d\d:\d\d$/)
        assert(the.asked.length <= 8, `${the.asked.length} calls in an hour`)
        const view = await the.untilDone(process)
        await process.stop()
        await the.database.query('drop trigger refuse on activity')
        assert.equal(view.job.status, 'failed')
        assert.match(view.message, /^Paceline has an error of its own in this import/)
        assert(the.asked.length <= 13, `${the.asked.length} calls`)
      })
    })

    test('an entry of the list that cannot even be named deletes nothing', async () => {
      const the = await world({ activities: 0 })
      for (const daysAgo of [1, 2, 3])
        the.simulator.control.addActivity({ start: new Date(the.clock.now() - daysAgo * DAY_MS).toISOString() })
      await the.run(async () => {
        const process = await synced(the)
        rewriting(the, entries => entries.map((entry, index) => (index === 0 ? null : entry)))
        await process.imports.start(the.athleteId, 'strava', { type: 'incremental' })
        await the.untilDone(process)
        await process.stop()
        assert.equal(await eventsOf(the, DELETED), 0)
      })
      await assertWhole(the, 3)
    })

    test('a list that never ends is not read for ever', async () => {
      const the = await world({ activities: 3 })
      rewriting(the, entries => [null, ...entries])
      await the.run(async () => {
        const process = the.process()
        await the.connect(process)
        await process.start()
        await the.untilDone(process)
        await process.stop()
      })
      await assertWhole(the, 3)
      assert(the.requests(LIST).length <= 45, `${the.requests(LIST).length} pages`)
    })

    test('a list that differs from the details for ever makes nothing be asked for again', async () => {
      const the = await world({ activities: 12, pollMinutes: 30 })
      rewriting(the, entries =>
        entries.map(entry => ({ ...entry, distance: Number(entry['distance']) + 0.1, total_photo_count: 0 })),
      )
      await the.run(async () => {
        const process = await synced(the)
        await the.clock.sleep(2 * HOUR_MS)
        assert(the.requests(LIST).length >= 2)
        await process.stop()
        assert.deepEqual([...the.requests(DETAIL), ...the.requests(PHOTOS)], [])
      })
    })

    test('a full import that is taken over after long brings also what filled more than two pages meanwhile', async () => {
      const the = await world({ activities: 20, ...SMALL })
      await the.run(async () => {
        const process = the.process()
        await the.connect(process)
        await process.start()
        await the.untilPaused(process)
        the.simulator.control.deauthorise('strava')
        await the.until(process, ['failed'])
        for (let nth = 0; nth < 420; nth++)
          the.simulator.control.addActivity({ start: new Date(the.clock.now() - nth * MINUTE_MS).toISOString(), seconds: 30 })
        await the.consent(process.connections)
        await the.clock.sleep(2 * MINUTE_MS)
        await process.stop()
        assert.equal(idsOf(await stored(the)).length, 440)
      })
    })
  })
}
