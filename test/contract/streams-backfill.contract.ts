// What is owed is worked off by itself: in order, at the budget's pace, by one worker for each athlete, through outages of all kinds.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Database } from '../../src/db/db.ts'
import { MINUTE_MS } from '../durations.ts'
import type { StreamProcess, StreamWorld } from '../stream-world.ts'
import { awayable, drained, STREAMS, streamWorlds, WIDE } from './streams-fixture.ts'

const ACTIVITIES = 12
const FEW = { activities: ACTIVITIES, ...WIDE } as const
const FINAL = ['success', 'unavailable'] as const

const BROKEN_GARMIN = `
  create function no_garmin() returns trigger language plpgsql as $$ begin raise exception 'on purpose'; end $$;
  create trigger no_garmin before update on activity for each row when (new.provider = 'garmin') execute function no_garmin()`

async function begun(the: StreamWorld, ...processes: StreamProcess[]): Promise<void> {
  const [first] = processes
  assert(first)
  await the.connect(first)
  for (const process of processes) await process.start()
}

/** How many athletes are being served. */
const served = async ({ database }: StreamWorld): Promise<number> =>
  (await database.query('select 1 from work_lane where owner is not null')).length

/** Another athlete with two activities. */
async function another(the: StreamWorld, process: StreamProcess, seed: number): Promise<string> {
  the.simulator.control.addAthlete({ activities: 0, seed })
  for (const daysAgo of [1, 2]) the.add(daysAgo)
  return await the.connect(process)
}

async function stopped(...processes: StreamProcess[]): Promise<void> {
  for (const process of processes) await process.stop()
}

export function streamsBackfillContract(name: string, open: () => Promise<Database>): void {
  describe(`the backfill of streams: ${name}`, () => {
    const world = streamWorlds(open)

    for (const order of ['newest', 'oldest'] as const) {
      test(`begins by itself, recent ones first, then the ${order}, and leaves nothing to do`, async () => {
        const the = await world({ ...FEW, order })
        const process = the.process()
        await the.run(async () => {
          await begun(the, process)
          await the.untilAll(FINAL)
          await process.stop()
          assert.deepEqual(await the.database.query('select 1 from work_lane where ready or due_at is not null'), [])
          const since = the.clock.now() - 31 * 86_400_000
          const rows = await the.database.query<{ externalId: string; recent: boolean }>(
            `select external_activity_id as "externalId", start_time >= $1 as recent from activity
             order by recent desc, start_time ${order === 'newest' ? 'desc' : 'asc'}, id desc`,
            [new Date(since)],
          )
          assert.deepEqual(
            the.asked,
            rows.map(({ externalId }) => externalId),
          )
        })
      })
    }

    test('paces itself, so that a window lasts to its end', async () => {
      const the = await world({ activities: 30, limits: { read: [40, 1000], overall: [80, 2000] } })
      const times: number[] = []
      the.onAnswer = () => {
        times.push(the.clock.now())
      }
      const process = the.process()
      await the.run(async () => {
        await begun(the, process)
        await the.untilAll(FINAL)
        await process.stop()
      })
      const gaps = times.slice(1, 20).map((at, index) => at - (times[index] ?? 0))
      assert(
        gaps.every(gap => gap > 20_000),
        gaps.join(', '),
      )
      assert.equal(the.vendor.overLimit, 0)
    })

    test('two processes share an athlete without asking twice', async () => {
      const the = await world({ ...FEW, latencyMs: 300 })
      const processes = [the.process(), the.process()]
      await the.run(async () => {
        await begun(the, ...processes)
        await the.untilAll(FINAL)
        await stopped(...processes)
      })
      assert.equal(the.asked.length, ACTIVITIES)
      assert.equal(new Set(the.asked).size, ACTIVITIES)
    })

    test('one that died is freed within two minutes, and another goes on', async () => {
      const the = await world(FEW)
      const [first, second] = [the.process(), the.process()]
      await the.run(async () => {
        await the.connect(first)
        let left = 3
        the.onAnswer = () => {
          if (--left === 0) first.die()
        }
        await first.start()
        await the.clock.sleep(2 * MINUTE_MS)
        const { length } = the.asked
        await second.start()
        await the.clock.sleep(2 * MINUTE_MS)
        assert(the.asked.length > length, 'nobody goes on')
        await the.untilAll(FINAL)
        await second.stop()
        const rows = await the.rows()
        assert.deepEqual(
          rows.map(({ epoch }) => epoch).filter(epoch => epoch > 1),
          [2],
        )
      })
      assert.equal(the.asked.length, ACTIVITIES + 1)
    })

    test('an outage of an hour is probed every five minutes, and costs no activity its attempts', async () => {
      const the = await world({ ...FEW, activities: 30 })
      const process = the.process()
      await the.run(async () => {
        the.simulator.control.setFaults([{ vendor: 'strava', kind: '5xx', route: STREAMS }])
        await begun(the, process)
        await the.clock.sleep(60 * MINUTE_MS)
        // Five, then one every five minutes; each call asks twice.
        assert(the.asked.length >= 2 * 14 && the.asked.length <= 2 * 17, `${the.asked.length} requests`)
        assert.equal((await process.streams.overview()).stuck, 0)
        the.simulator.control.clearFaults()
        await the.untilAll(FINAL)
        await process.stop()
      })
    })

    test('an outage costs many athletes no more than one, and each activity one attempt before any has two', async () => {
      const the = await world({ ...FEW, activities: 2 })
      const process = the.process()
      const tries = async (): Promise<number[]> => {
        const rows = await the.database.query<{ tries: number }>('select stream_fetch_retry_count as tries from activity')
        return rows.map(({ tries: each }) => each)
      }
      await the.run(async () => {
        await the.connect(process)
        for (let seed = 2; seed <= 12; seed++) await another(the, process, seed)
        the.simulator.control.setFaults([{ vendor: 'strava', kind: '5xx', route: STREAMS }])
        await process.start()
        await the.clock.sleep(2 * MINUTE_MS)
        const failures = (await tries()).reduce((sum, each) => sum + each, 0)
        assert.equal(failures, 5)
        await the.clock.sleep(60 * MINUTE_MS)
        assert.equal(Math.max(...(await tries())), 1)
        the.simulator.control.clearFaults()
        await the.untilAll(FINAL)
        await process.stop()
      })
    })

    test('the probe after an outage goes to one who can be asked for, and may call', async () => {
      const the = await world({ ...FEW, activities: 2 })
      const process = the.process()
      await the.run(async () => {
        const disconnected = await the.connect(process)
        const bo = await another(the, process, 2)
        await the.database.query("update connection set status = 'needs_reauth' where athlete_id = $1", [disconnected])
        const due = new Date(the.clock.now())
        await the.database.query("insert into circuit_breaker (vendor, failures, probe_at) values ('strava', 5, $1)", [due])
        // As the operator rings, for everybody.
        await process.start()
        await process.streams.backfill()
        await the.clock.sleep(4 * MINUTE_MS)
        await process.stop()
        assert.deepEqual(
          (await the.rows(bo)).map(({ status }) => status),
          ['success', 'success'],
        )
      })
    })

    test('a probe for which there is no permit is still there when there is one', async () => {
      const the = await world({ activities: 2, limits: { read: [20, 1000], overall: [40, 2000] } })
      const process = the.process()
      await the.run(async () => {
        await the.connect(process)
        await drained(process, 0)
        const due = new Date(the.clock.now())
        await the.database.query("insert into circuit_breaker (vendor, failures, probe_at) values ('strava', 5, $1)", [due])
        await process.start()
        await the.clock.sleep(2 * MINUTE_MS)
        const [{ probeAt } = { probeAt: null }] = await the.database.query<{ probeAt: Date }>(
          'select probe_at as "probeAt" from circuit_breaker',
        )
        assert(probeAt !== null && probeAt.getTime() <= the.clock.now())
        await the.untilAll(FINAL)
        await process.stop()
      })
    })

    test('goes on while the look at what Garmin owes fails', async () => {
      const the = await world({ ...FEW, activities: 2 })
      const process = the.process()
      await the.database.script(BROKEN_GARMIN)
      await the.run(async () => {
        await the.connect(process)
        const summary = { userId: 'u1', summaryId: '1', activityId: '1', startTimeInSeconds: the.clock.now() / 1000 }
        await the.database.transaction(tx => the.activities.storeSummaries(tx, the.athleteId, 'garmin', [summary]))
        await process.start()
        await the.clock.sleep(3 * MINUTE_MS)
        await process.stop()
      })
      await the.database.script('drop function no_garmin cascade')
      assert.equal(the.asked.length, 2)
    })

    test('stops at once while the budget is away, and goes on by itself', async () => {
      const the = await world(FEW)
      const budget = awayable(the)
      const process = the.process({ cache: budget })
      await the.run(async () => {
        await the.connect(process)
        await process.start()
        let left = 4
        the.onAnswer = () => {
          if (--left === 0) budget.away = true
        }
        await the.clock.sleep(30 * MINUTE_MS)
        assert.equal(the.asked.length, 4)
        const waiting = (await the.rows()).filter(({ status }) => status === 'pending')
        assert.equal(waiting.length, ACTIVITIES - 4)
        assert.equal(await served(the), 0)
        budget.away = false
        await the.untilAll(FINAL)
        await process.stop()
      })
      assert.equal(the.asked.length, ACTIVITIES)
    })

    test('holds nobody while it waits for the next window', async () => {
      const the = await world({
        activities: 20,
        limits: { read: [12, 1000], overall: [40, 2000] },
        settings: { backfillYield: 3 },
      })
      const process = the.process()
      await the.run(async () => {
        await begun(the, process)
        await the.clock.sleep(2 * MINUTE_MS)
        assert(the.asked.length > 0)
        await drained(process, 0)
        await the.clock.sleep(2 * MINUTE_MS)
        assert.equal(await served(the), 0)
        const { length } = the.asked
        await the.clock.sleep(11 * MINUTE_MS)
        assert(the.asked.length > length)
        await the.untilAll(FINAL)
        await process.stop()
      })
      assert.equal(the.vendor.overLimit, 0)
    })

    test('athletes take turns', async () => {
      const the = await world({ activities: 10, ...WIDE })
      const process = the.process()
      await the.run(async () => {
        const ada = await the.connect(process)
        the.simulator.control.addAthlete({ activities: 0, seed: 2 })
        for (let at = 1; at <= 10; at++) the.add(at)
        const bo = await the.connect(process)
        await process.start()
        await the.untilAll(FINAL)
        await process.stop()
        const mine = new Set((await the.rows(ada)).map(({ externalId }) => externalId))
        assert.equal((await the.rows(bo)).length, 10)
        const half = the.asked.slice(0, 10).filter(externalId => mine.has(externalId))
        assert(half.length >= 4 && half.length <= 6, `${half.length} of the first ten`)
      })
    })

    test('an athlete whose consent is used up is left alone', async () => {
      const the = await world(FEW)
      const process = the.process()
      await the.run(async () => {
        await the.connect(process)
        await the.database.query("update connection set status = 'needs_reauth'")
        await process.start()
        await the.clock.sleep(10 * MINUTE_MS)
        await process.stop()
        assert((await the.rows()).every(({ status }) => status === 'pending'))
      })
      assert.equal(the.asked.length, 0)
    })
  })
}
