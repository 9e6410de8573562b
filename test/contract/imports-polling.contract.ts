// Who is looked at without being asked, and how often: at once after a consent, seldom where webhooks come, and all together within
// their share of the day.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Database } from '../../src/db/db.ts'
import { MINUTE_MS, HOUR_MS } from '../durations.ts'
import { detailsAsked, LIST, stored, synced, WIDE, worlds } from './imports-fixture.ts'

export function importsPollingContract(name: string, open: () => Promise<Database>): void {
  describe(`polling: ${name}`, () => {
    const world = worlds(open)

    test('those whose first import never completes ask no more in a day than the polls’ share, and later each time', async () => {
      const athletes = 25
      const the = await world({ activities: 2, pollMinutes: 30 })
      await the.run(async () => {
        const process = the.process()
        the.onItsWay = (path, response) =>
          Promise.resolve(LIST.test(path) ? Response.json({ message: 'Bad Request', errors: [] }, { status: 400 }) : response)
        const ids: string[] = []
        for (let count = 0; count < athletes; count++) {
          if (count > 0) the.simulator.control.addAthlete()
          ids.push(await the.connect(process))
        }
        await process.start()
        await the.clock.sleep(24 * HOUR_MS)
        await process.stop()
        const tries = await Promise.all(
          ids.map(async id => (await process.imports.list(id, { after: undefined, limit: 50 })).length),
        )
        const calls = the.requests(LIST).length
        assert(calls - athletes <= 0.15 * 950, `${calls} calls`)
        assert(
          tries.every(count => count > 3 && count <= 8),
          `${tries.join(', ')} tries`,
        )
      })
    })

    test('where the vendor counts by minutes and not by days, polls have their share all the same', async () => {
      const the = await world({ vendor: 'oura', activities: 0, nights: 3, pollMinutes: 30 })
      await the.run(async () => {
        const process = await synced(the)
        while (the.asked.length === 0) await the.clock.sleep(MINUTE_MS)
        const share = await the.database.query<{ ms: number }>(
          `select extract(epoch from s.next_at - max(j.created_at)) * 1000::float8 as ms
           from poll_share s join import_jobs j on j.vendor = s.vendor where s.vendor = 'oura' group by s.next_at`,
        )
        // Two calls of 15 % of 2,375 in five minutes.
        assert.deepEqual(
          share.map(({ ms }) => Math.round(ms)),
          [Math.round((2 * 5 * MINUTE_MS) / (0.15 * 2_375))],
        )
        await process.stop()
      })
    })

    test('who has no activity yet is looked at as often as the others', async () => {
      const the = await world({ activities: 0, pollMinutes: 30 })
      await the.run(async () => {
        const process = the.process()
        await the.connect(process)
        await process.start()
        await the.clock.sleep(5 * HOUR_MS)
        await process.stop()
        const looks = (await process.imports.list(the.athleteId, { after: undefined, limit: 50 })).length
        assert(looks >= 9, `${looks} looks`)
      })
    })

    test('a minute’s look makes as many statements for many athletes with nothing due as for one', async () => {
      const the = await world({ activities: 1, pollMinutes: 43_200, ...WIDE })
      await the.run(async () => {
        const process = await synced(the)
        const ids: string[] = []
        const statements = async (): Promise<number> => {
          const before = the.statements
          await process.imports.poll()
          return the.statements - before
        }
        const few = await statements()
        for (let count = 0; count < 12; count++) {
          the.simulator.control.addAthlete()
          ids.push(await the.connect(process))
        }
        for (const id of ids) await the.untilDone(process, id)
        // Of the worker and the schedules nothing is under way between two minutes.
        await the.clock.sleep(90_000)
        assert.deepEqual([few, await statements()], [4, 4])
        await process.stop()
      })
    })

    test('who consents anew has the gap filled at once, and no detail is asked for twice', async () => {
      const the = await world({ activities: 12, pollMinutes: 43_200 })
      await the.run(async () => {
        const process = await synced(the)
        await the.clock.sleep(HOUR_MS)
        const added = the.simulator.control.addActivity({ name: 'While away' })
        assert.equal(the.asked.length, 0)
        await the.consent(process.connections)
        await the.clock.sleep(2 * MINUTE_MS)
        assert.deepEqual(detailsAsked(the), [added?.id])
        await the.clock.sleep(HOUR_MS)
        await process.stop()
        assert.equal(the.requests(LIST).length, 1)
        assert.equal((await stored(the)).length, 13)
        const jobs = await process.imports.list(the.athleteId, { after: undefined, limit: 9 })
        assert.deepEqual(
          jobs.map(({ job }) => job.type),
          ['incremental', 'full'],
        )
      })
    })

    test('where webhooks are heard it looks once a day; in silence again as usual', async () => {
      const the = await world({ activities: 3, pollMinutes: 30 })
      await the.run(async () => {
        const process = await synced(the)
        const [connection] = await process.connections.list(the.athleteId)
        assert.equal(await process.connections.heard('strava', connection?.vendorAthleteId ?? ''), the.athleteId)
        await the.clock.sleep(2 * HOUR_MS)
        assert.equal(the.requests(LIST).length, 0)
        await process.stop()
        await the.clock.sleep(22 * HOUR_MS)
        const again = the.process()
        await again.start()
        await the.clock.sleep(2 * HOUR_MS)
        await again.stop()
        assert(the.requests(LIST).length > 3)
        assert.equal(await process.connections.heard('strava', 'nobody'), undefined)
      })
    })

    test('where a fifth of the day is less than a poll, it looks once in several days', async () => {
      const the = await world({ activities: 2, pollMinutes: 30, limits: { read: [10, 10], overall: [20, 20] }, stepMs: 60_000 })
      await the.run(async () => {
        const process = await synced(the)
        await the.clock.sleep(2 * HOUR_MS)
        assert.equal((await process.imports.list(the.athleteId, { after: undefined, limit: 9 })).length, 2)
        await process.stop()
        await the.clock.sleep(56 * HOUR_MS)
        const again = the.process()
        await again.start()
        await the.clock.sleep(HOUR_MS)
        await again.stop()
        assert.equal((await process.imports.list(the.athleteId, { after: undefined, limit: 9 })).length, 3)
      })
    })

    test('many athletes are looked at in turn, spread out within a fifth of the day’s budget', async () => {
      const athletes = 9
      const hours = 5
      const the = await world({ activities: 2, pollMinutes: 30 })
      await the.run(async () => {
        const process = the.process()
        const ids: string[] = []
        for (let count = 0; count < athletes; count++) {
          if (count > 0) the.simulator.control.addAthlete()
          ids.push(await the.connect(process))
        }
        await process.start()
        for (const id of ids) await the.untilDone(process, id)
        the.asked.length = 0
        await the.clock.sleep(hours * HOUR_MS)
        await process.stop()
        const calls = the.asked.length
        assert(calls <= (0.2 * 950 * hours) / 24, `${calls} calls for polling`)
        for (const id of ids) {
          const jobs = await process.imports.list(id, { after: undefined, limit: 9 })
          assert(jobs.length === 3 || jobs.length === 2, `${jobs.length} imports of one athlete`)
        }
      })
    })
  })
}
