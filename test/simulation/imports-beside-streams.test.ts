// An import and the streams of the same athlete share one budget: streams of the last thirty days first, then the import's details, then
// older streams.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { DETAIL, LIST, WIDE, worlds } from '../contract/imports-fixture.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../durations.ts'
import { openMigrated } from '../stores.ts'

const STREAMS = /^\/activities\/(\d+)\/streams$/
const ACTIVITIES = 60

describe('an import beside streams', () => {
  const world = worlds(openMigrated)
  test('recent streams go before details, and details before older streams', async () => {
    const the = await world({
      activities: ACTIVITIES,
      limits: { read: [40, 2_000], overall: [80, 4_000] },
      settings: { backfillYield: 4 },
    })
    const process = the.process({ withStreams: true })
    const startsAt = the.clock.now()
    await the.run(async () => {
      await the.connect(process)
      await process.start()
      await the.untilDone(process)
      const open = `select id from activity where stream_fetch_status in ('pending', 'fetching')`
      while ((await the.database.query(open)).length > 0) await the.clock.sleep(60_000)
      await process.stop()
    })
    const rows = await the.database.query<{ id: string; at: Date }>(
      'select external_activity_id as id, start_time as at from activity',
    )
    const isRecent = new Set(rows.filter(({ at }) => at.getTime() > startsAt - 30 * DAY_MS).map(({ id }) => id))
    assert(isRecent.size >= 10 && isRecent.size <= ACTIVITIES - 10, `${isRecent.size} recent ones`)
    const kinds = the.asked.flatMap(({ path }) => {
      const id = STREAMS.exec(path)?.[1]
      if (id !== undefined) return isRecent.has(id) ? 'recent' : 'older'
      return DETAIL.test(path) ? 'detail' : []
    })
    // The import begins its details in the minute before the sweep finds the streams.
    const first = kinds.indexOf('recent')
    assert.deepEqual(
      kinds.slice(first, kinds.lastIndexOf('recent') + 1).filter(kind => kind !== 'recent'),
      [],
    )
    assert(kinds.lastIndexOf('detail') < kinds.indexOf('older'))
    assert(kinds.lastIndexOf('recent') < kinds.lastIndexOf('detail'))
    assert.equal(the.vendor.overLimit, 0)
  })

  test('of a history, a manual entry costs no streams call and an old activity without streams one', async () => {
    const the = await world({ activities: 0, settleMs: 30 * MINUTE_MS, ...WIDE })
    const start = (days: number): string => new Date(the.clock.now() - days * DAY_MS).toISOString()
    the.simulator.control.addActivity({ start: start(61), elapsedSeconds: 600, manual: true })
    the.simulator.control.addActivity({ start: start(60), elapsedSeconds: 600 })
    the.simulator.control.setFaults([{ vendor: 'strava', kind: 'streams_not_ready' }])
    const process = the.process({ withStreams: true })
    await the.run(async () => {
      await the.connect(process)
      await process.start()
      await the.untilDone(process)
      const open = `select id from activity where stream_fetch_status <> 'unavailable'`
      while ((await the.database.query(open)).length > 0) await the.clock.sleep(MINUTE_MS)
      await process.stop()
    })
    const rows = await the.database.query<{ id: string; manual: boolean }>(
      'select external_activity_id as id, manual from activity',
    )
    const calls = rows.map(({ id, manual }) => [manual, the.requests(STREAMS).filter(path => path.includes(`/${id}/`)).length])
    assert.deepEqual(
      new Map(calls as [boolean, number][]),
      new Map([
        [true, 0],
        [false, 1],
      ]),
    )
  })

  test('a time that an import promised holds, also while the day’s reserve decays', async () => {
    const the = await world({ activities: 300, limits: { read: [100, 150], overall: [200, 300] } })
    await the.run(async () => {
      const process = the.process({ withStreams: true })
      await process.start()
      await the.connect(process)
      let [view, told] = [await the.untilPaused(process), new Set<number>()]
      while (view.cause !== 'reserve') {
        await the.clock.sleep(MINUTE_MS)
        view = await the.newest(process)
      }
      const promised = view.retryAt ?? 0
      assert(promised > the.clock.now() + HOUR_MS)
      for (; the.clock.now() < promised; await the.clock.sleep(5 * MINUTE_MS)) {
        const { retryAt = 0, eta } = await the.newest(process)
        told.add(retryAt)
        assert(eta === undefined || eta >= retryAt, 'it does not end before it goes on')
      }
      assert.deepEqual([...told], [promised])
      await process.stop()
    })
  })

  test('streams go on while the import waits for its list, and after its end; no athlete’s are forgotten', async () => {
    const the = await world({ activities: 40, latencyMs: 300, limits: { read: [8, 1_000], overall: [16, 2_000] } })
    await the.run(async () => {
      const process = the.process({ withStreams: true })
      await process.start()
      await the.connect(process)
      let isBroken = false
      the.onItsWay = (path, response) =>
        Promise.resolve(isBroken && LIST.test(path) ? new Response('<html>', { status: 200 }) : response)
      const left = async (): Promise<number> =>
        (await the.database.query("select id from activity where stream_fetch_status = 'pending'")).length
      while ((await left()) === 0 || the.requests(DETAIL).length < 20) await the.clock.sleep(1_000)
      isBroken = true
      for (let hours = 0; (await left()) > 0; hours++) {
        assert(hours < 24, `${await left()} streams are forgotten`)
        await the.clock.sleep(HOUR_MS)
      }
      assert.notEqual((await the.newest(process)).job.status, 'completed')
      await process.stop()
    })
  })

  test('a process that was frozen, and whose athlete another serves, moves nothing when it thaws', async () => {
    const the = await world({ activities: 30, latencyMs: 8_000 })
    await the.run(async () => {
      const [frozen, other] = [the.process(), the.process()]
      await frozen.start()
      await the.connect(frozen)
      while (the.requests(DETAIL).length < 3) await the.clock.sleep(1_000)
      frozen.die()
      await other.start()
      await the.clock.sleep(100_000)
      const asked = the.requests(DETAIL).length
      assert(asked > 3, 'the other one has taken over')
      const stopping = frozen.stop()
      await the.clock.sleep(3_000)
      frozen.revive()
      await the.untilDone(other)
      await stopping
      await other.stop()
      // What the frozen one was fetching is asked for once more; what the other fetches meanwhile is not.
      const later = the.requests(DETAIL).slice(3)
      assert.equal(new Set(later).size, later.length)
    })
  })
})
