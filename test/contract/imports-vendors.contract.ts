// The histories of the vendors that are not Strava, each by its own strategy.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Database } from '../../src/db/db.ts'
import type { ImportView } from '../../src/imports/imports.ts'
import { MINUTE_MS, HOUR_MS, DAY_MS } from '../durations.ts'
import type { ImportWorld, Process, WorldOptions } from '../import-world.ts'
import { lastSyncOf, receiving, worlds } from './imports-fixture.ts'

const CHECKINS = /\/checkins$/
const BACKFILL = /\/backfill\//
const HISTORY = { tick: ['HISTORICAL_DATA_EXPORT'] }

interface NightEvent {
  readonly id: string
  readonly payload: {
    eventId: string
    payload: { userId: string; date: string; durationMinutes: number; raw: { source: string } }
  }
}

export function importsVendorsContract(name: string, open: () => Promise<Database>): void {
  const world = worlds(open)

  const count = async (the: ImportWorld, table: string): Promise<number> => {
    const [row] = await the.database.query<{ n: number }>(`select count(*) as n from ${table} where athlete_id = $1`, [
      the.athleteId,
    ])
    return row?.n ?? 0
  }

  /** Connects and plays until the import is over. */
  async function imported(the: ImportWorld, process: Process, decision = {}): Promise<ImportView> {
    await the.connect(process, decision)
    await process.start()
    return await the.untilDone(process)
  }

  const newestCheckins = async (the: ImportWorld, limit: number): Promise<string[]> => {
    const rows = await the.database.query<{ id: string }>(
      'select external_id as id from checkin where athlete_id = $1 order by created_at desc limit $2',
      [the.athleteId, limit],
    )
    return rows.map(({ id }) => id)
  }

  describe(`Foursquare: ${name}`, () => {
    const years = { vendor: 'foursquare', activities: 0, checkinDays: 1700 } as const

    test('every check-in is stored once, 250 a page', async () => {
      const the = await world(years)
      await the.run(async () => {
        const process = the.process()
        const view = await imported(the, process)
        const total = view.progress.total ?? 0
        assert(total > 500, `${total} check-ins are three pages`)
        assert.equal(view.message, `Completed: ${total} check-ins imported`)
        assert.equal(await count(the, 'checkin'), total)
        assert(the.requests(CHECKINS).length <= Math.ceil(total / 249) + 2)
        assert.notEqual(await lastSyncOf(the), null)
        await process.imports.start(the.athleteId, 'foursquare', { type: 'incremental' })
        assert.equal((await the.untilDone(process)).message, 'Completed: no new check-ins')
        await process.stop()
      })
    })

    test('out of requests it fails with what to do, and waits for a person, who goes on where it stopped', async () => {
      const the = await world({ ...years, limits: { foursquare: 6 }, pollMinutes: 30 })
      await the.run(async () => {
        const process = the.process()
        const failed = await imported(the, process)
        assert.equal(failed.job.status, 'failed')
        assert.match(failed.message, /^Foursquare allows no more requests before \d\d:\d\d UTC; .* start the import again/)
        const kept = await count(the, 'checkin')
        assert(kept >= 250)
        const asked = the.asked.length
        await the.clock.sleep(2 * HOUR_MS)
        assert.equal(the.asked.length, asked)
        // Of six an hour, with hours that nobody has told us the edges of, we ask for two.
        for (let attempt = 0; attempt < 5; attempt++) {
          await process.imports.start(the.athleteId, 'foursquare', { type: 'full' })
          const view = await the.untilDone(process)
          if (view.job.status === 'completed') break
          await the.clock.sleep(2 * HOUR_MS)
        }
        await process.stop()
        const view = await the.newest(process)
        assert.equal(view.job.status, 'completed')
        assert.equal(await count(the, 'checkin'), view.progress.total)
      })
    })

    test('a vendor that does not answer ends it too', async () => {
      const the = await world(years)
      the.simulator.control.setFaults([{ vendor: 'foursquare', route: 'GET /v2/users/self/checkins', kind: '5xx' }])
      await the.run(async () => {
        const process = the.process()
        const failed = await imported(the, process)
        await process.stop()
        assert.match(failed.message, /^Foursquare did not give the check-ins \(.+\)\. What was fetched is kept/)
        assert.equal(await lastSyncOf(the), null)
      })
    })

    test('a page of nothing does not end the history while the vendor counts more', async () => {
      const the = await world(years)
      let pages = 0
      the.onItsWay = async (path, response) => (CHECKINS.test(path) && ++pages === 2 ? await emptied(response) : response)
      await the.run(async () => {
        const process = the.process()
        const view = await imported(the, process)
        await process.stop()
        assert.equal(await count(the, 'checkin'), view.progress.total)
        assert((view.progress.total ?? 0) > 500)
      })
    })

    for (const [walk, failsAt] of Object.entries({ 'by time': 2, 'by number': 4 })) {
      test(`an import that takes one over which failed on its walk ${walk} has what was posted in between`, async () => {
        const the = await world(years)
        let pages = 0
        // For the walk by number the one by time ends early, with an empty page; on either, the athlete withdraws.
        the.onItsWay = async (path, response) => {
          if (!CHECKINS.test(path)) return response
          pages += 1
          if (pages === failsAt) the.simulator.control.deauthorise('foursquare')
          return pages === 2 && failsAt > 2 ? await emptied(response) : response
        }
        await the.run(async () => {
          const process = the.process()
          const failed = await imported(the, process)
          await process.stop()
          assert.equal(failed.job.status, 'failed')
          assert.equal(failed.job.cursor['walk'], failsAt > 2 ? 'number' : 'time')
          const posted = []
          for (let day = 0; day < 20; day++) {
            await the.clock.sleep(DAY_MS)
            posted.push(the.simulator.control.addCheckin()?.id)
          }
          await process.start()
          await the.consent(process.connections)
          const view = await the.until(process, ['completed'])
          await process.stop()
          assert.equal(await count(the, 'checkin'), view.progress.total)
          assert.deepEqual(await newestCheckins(the, 20), posted.toReversed())
          assert.equal(view.message, `Completed: ${view.progress.total} check-ins imported`)
          assert.equal(view.job.cursor['walk'], failed.job.cursor['walk'], 'and needs no second walk for it')
        })
      })
    }

    test('a history without a check-in is not taken for complete', async () => {
      const the = await world({ ...years, checkinDays: 0 })
      await the.run(async () => {
        const process = the.process()
        assert.equal((await imported(the, process)).message, 'Completed: no new check-ins')
        await process.stop()
        assert.equal(await lastSyncOf(the), null)
      })
    })
  })

  for (const vendor of ['oura', 'whoop'] as const) {
    describe(`${vendor}: ${name}`, () => {
      const options: WorldOptions = { vendor, activities: 0, nights: 800 }
      const nightsIn = async (the: ImportWorld): Promise<NightEvent[]> =>
        await the.database.query<NightEvent>(
          `select id, payload from outbox where subject = 'athlete-ally.sleep.raw-received' order by id`,
        )

      test('two years of nights go to the ingest, each as one event under its own id', async () => {
        const the = await world(options)
        await the.run(async () => {
          const process = the.process()
          const view = await imported(the, process)
          await process.stop()
          const events = await nightsIn(the)
          const dates = new Set(events.map(({ payload }) => payload.payload.date))
          assert.equal(events.length, dates.size, 'one event for each night')
          assert.equal(view.message, `Completed: ${dates.size} nights imported`)
          assert.equal(the.vendor.overLimit, 0)
          assert(dates.size >= 729 && dates.size <= 731, `${dates.size} nights in two years`)
          const days = [...dates].map(date => Date.parse(date)).toSorted((a, b) => a - b)
          assert.equal((Number(days.at(-1)) - Number(days[0])) / DAY_MS, dates.size - 1)
          for (const { id, payload } of events) {
            assert.equal(payload.eventId, id)
            assert.equal(payload.payload.userId, the.athleteId)
            assert.equal(payload.payload.raw.source, vendor)
            assert(payload.payload.durationMinutes > 200, 'a nap is no night')
          }
        })
      })

      /** WHOOP's percentage follows the hours. */
      function edit({ simulator: { control } }: ImportWorld, { id, score }: { id: string; score: number }): void {
        if (vendor === 'oura') control.changeSleep(vendor, id, { score: score - 1 })
        if (vendor === 'whoop' && control.deleteSleep(vendor, id)) control.addSleep(vendor, { hours: 6 })
      }

      test('a poll hands on what is new or changed, once, and says so', async () => {
        const the = await world({ ...options, nights: 60 })
        await the.run(async () => {
          const process = the.process()
          const polled = async (): Promise<string> => {
            await process.imports.start(the.athleteId, vendor, { type: 'incremental' })
            return (await the.untilDone(process)).message
          }
          assert.equal((await imported(the, process)).message, 'Completed: 60 nights imported')
          const added = the.simulator.control.addSleep(vendor)
          assert(added)
          const messages = [await polled(), await polled()]
          edit(the, added)
          messages.push(await polled(), await polled())
          const [one, none] = ['Completed: 1 nights imported', 'Completed: no new nights']
          assert.deepEqual(messages, [one, none, one, none])
          // What is known already is a history too.
          await process.imports.start(the.athleteId, vendor, { type: 'full', restart: true })
          const again = await the.untilDone(process)
          await process.stop()
          assert.equal(again.message, none)
          assert.deepEqual(await lastSyncOf(the), again.job.startedAt)
          assert.equal((await nightsIn(the)).length, 62)
        })
      })

      test('an import that takes a failed one over also reads the nights in between', async () => {
        const the = await world({ ...options, nights: 200 })
        await the.run(async () => {
          const process = the.process()
          await the.connect(process)
          // A range or two are read, and then the athlete withdraws.
          the.onAnswer = () => {
            if (the.asked.length === 6) the.simulator.control.deauthorise(vendor)
          }
          await process.start()
          assert.equal((await the.untilDone(process)).job.status, 'failed')
          const kept = (await nightsIn(the)).length
          assert(kept > 20 && kept < 100, `${kept} nights were read before`)
          await process.stop()
          for (let night = 0; night < 40; night++) {
            await the.clock.sleep(DAY_MS)
            the.simulator.control.addSleep(vendor)
          }
          await process.start()
          await the.consent(process.connections)
          const view = await the.until(process, ['completed'])
          await process.stop()
          assert.equal(view.message, 'Completed: 240 nights imported')
          assert.equal(new Set((await nightsIn(the)).map(({ payload }) => payload.payload.date)).size, 240)
          assert.deepEqual(await lastSyncOf(the), view.job.startedAt)
        })
      })

      test('what is new comes by itself; a broken range is read again, and nothing is lost', async () => {
        const the = await world({ ...options, nights: 120, pollMinutes: 30 })
        await the.run(async () => {
          const process = the.process()
          await the.connect(process)
          the.simulator.control.setFaults([{ vendor, kind: '5xx', times: 6 }])
          await process.start()
          assert.equal((await the.untilPaused(process)).job.pause, 'vendor')
          await the.until(process, ['completed'])
          const before = new Set((await nightsIn(the)).map(({ payload }) => payload.payload.date)).size
          assert(before >= 119, `${before} of 120 nights`)
          const added = the.simulator.control.addSleep(vendor)
          await the.clock.sleep(HOUR_MS)
          await process.stop()
          const dates = (await nightsIn(the)).map(({ payload }) => payload.payload.date)
          assert(added && dates.includes(added.day))
        })
      })
    })
  }

  describe(`Garmin: ${name}`, () => {
    const options: WorldOptions = { vendor: 'garmin', activities: 24, nights: 20, stepMs: 60_000 }
    const generous = { limits: { garmin: [10_000, 100_000] } } as const

    test('it is asked for everything, range by range within its limits, and what it pushes is stored once', async () => {
      // More days a minute than an evaluation key has, with which it takes three hours.
      const days = { limits: { garmin: { 'backfill-days:minute': 600 } } }
      const the = await world({ ...options, limits: { garmin: [100, 600] }, settings: days })
      await the.run(async () => {
        const process = the.process()
        receiving(the, process)
        await the.connect(process, HISTORY)
        await process.start()
        const waiting = await the.until(process, ['rate_limited'])
        assert.equal(waiting.cause, 'limit')
        const view = await the.untilDone(process)
        await process.stop()
        assert.equal(view.message, 'Completed: 24 activities imported')
        assert.equal(await count(the, 'activity'), 24)
        const streams = `select a.manual from activity a left join activity_stream s on s.activity_id = a.id
                         where s.source is distinct from 'garmin'`
        const without = await the.database.query<{ manual: boolean }>(streams)
        assert.deepEqual(
          without.filter(({ manual }) => !manual),
          [],
        )
        assert.equal(the.vendor.overLimit, 0)
        const ranges = Math.ceil((5 * 365) / 30)
        assert.equal(the.requests(BACKFILL).length, 3 * ranges)
        const nights = await the.database.query<{ n: number }>(
          `select count(distinct payload #>> '{payload,date}') as n from outbox where subject = 'athlete-ally.sleep.raw-received'`,
        )
        assert.equal(nights[0]?.n, 20)
        assert.notEqual(await lastSyncOf(the), null)
      })
    })

    test('while it sends it is waited for, in words that are true; a range asked for twice is as good as granted', async () => {
      const the = await world({ ...options, ...generous })
      await the.run(async () => {
        const process = the.process()
        receiving(the, process)
        // Its answers are lost: the same is asked again, and refused as a duplicate.
        let lost = 0
        the.onItsWay = (path, response) =>
          Promise.resolve(BACKFILL.test(path) && lost++ < 2 ? new Response('', { status: 503 }) : response)
        await the.connect(process, HISTORY)
        await process.start()
        let waiting = await the.until(process, ['rate_limited'])
        while (waiting.job.pause !== 'push') {
          await the.clock.sleep(MINUTE_MS)
          waiting = await the.until(process, ['rate_limited'])
        }
        assert.equal(waiting.message, 'Garmin is sending')
        const view = await the.untilDone(process)
        await process.stop()
        assert.equal(view.job.status, 'completed')
        assert.equal(await count(the, 'activity'), 24)
        assert.deepEqual(view.problems, [])
      })
    })

    test('without the permission for history it says what to tick, once', async () => {
      const the = await world({ ...options, pollMinutes: 30 })
      await the.run(async () => {
        const process = the.process()
        const view = await imported(the, process)
        assert.equal(view.job.status, 'failed')
        assert.match(view.message, /HISTORICAL_DATA_EXPORT: connect it again and tick it/)
        await the.clock.sleep(2 * HOUR_MS)
        assert.equal(the.requests(BACKFILL).length, 1)
        receiving(the, process)
        await the.consent(process.connections, the.athleteId, HISTORY)
        await the.until(process, ['completed'])
        await process.stop()
        assert.equal(await count(the, 'activity'), 24)
      })
    })

    test('what it sends by itself is stored without an import, again and again under one id', async () => {
      const the = await world({ ...options, activities: 0, nights: 0 })
      await the.run(async () => {
        const process = the.process()
        receiving(the, process)
        await the.connect(process, HISTORY)
        const added = the.simulator.control.addActivity({ name: 'Lunch Run' })
        assert(added)
        await the.clock.sleep(MINUTE_MS)
        the.simulator.control.changeActivity(added.id, { name: 'Lunch Run, named' })
        await the.clock.sleep(MINUTE_MS)
        assert.equal(await count(the, 'activity'), 1)
      })
    })
  })
}

/** The same answer without its items; the count stays. */
async function emptied(response: Response): Promise<Response> {
  const answer = (await response.json()) as { response: { checkins: { items: unknown[] } } }
  answer.response.checkins.items = []
  return Response.json(answer)
}
