// A history comes in whole: every activity once, one detail request each, over pauses, forgotten lanes and processes that come and go.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Database } from '../../src/db/db.ts'
import { hear } from '../../src/kernel/channels.ts'
import { JobStore, type ImportJob } from '../../src/imports/job-store.ts'
import { QUARTER_MS } from '../durations.ts'
import type { ImportWorld, Process } from '../import-world.ts'
import { GUARD_MS } from '../rooms.ts'
import {
  assertWhole,
  DETAIL,
  detailsAsked,
  eventsOf,
  idsOf,
  LIST,
  PER_WINDOW,
  PHOTOS,
  SMALL,
  stored,
  worlds,
} from './imports-fixture.ts'

const ACTIVITIES = 20
const edgeAfter = (at: number): number => (Math.floor(at / QUARTER_MS) + 1) * QUARTER_MS

/** Connects an athlete and plays until the import is over. */
async function imported(the: ImportWorld, process: Process): Promise<void> {
  await the.connect(process)
  await process.start()
  await the.untilDone(process)
  await process.stop()
}

/** Calls `act` with the answer of the nth detail, before its process hears it. */
function atDetail(the: ImportWorld, nth: number, act: () => void): void {
  let left = nth
  the.onAnswer = path => {
    if (DETAIL.test(path) && --left === 0) act()
  }
}

export function importsContract(name: string, open: () => Promise<Database>): void {
  describe(`imports: ${name}`, () => {
    const world = worlds(open)

    test('every activity is stored once, for one detail request each, with its photos, newest first', async () => {
      const the = await world({ activities: 50 })
      const process = the.process()
      const view = await the.run(async () => {
        await imported(the, process)
        return await the.newest(process)
      })
      const rows = await assertWhole(the, 50)
      assert.deepEqual(detailsAsked(the), idsOf(rows))
      assert.equal(the.requests(PHOTOS).length, rows.filter(row => row.photoCount > 0).length)
      assert(the.requests(PHOTOS).length > 0)
      assert.equal(view.message, 'Completed: 50 activities imported')
      assert.deepEqual(view.problems, [])
      assert.deepEqual([view.progress.listed, view.progress.detailed, view.progress.total], [50, 50, 50])
      assert.equal(await eventsOf(the, 'athlete-ally.activity.imported'), 50)
    })

    test('each move of an import is told once, from its beginning to its end', async () => {
      const the = await world({ activities: ACTIVITIES, ...SMALL })
      const process = the.process()
      const told: string[] = []
      const deaf = hear('paceline:import', ({ status, cause }) =>
        told.push(cause === undefined ? status : `${status} (${cause})`),
      )
      await the.run(() => imported(the, process))
      deaf()
      const pauses = told.filter(move => move === 'rate_limited (yield)').length
      const paused = Array.from({ length: pauses }, () => ['rate_limited (yield)', 'started'])
      assert(pauses > 0)
      assert.deepEqual(told, ['queued', 'started', ...paused.flat(), 'completed'])
    })

    test('without a permit it pauses until the window’s edge, asks nothing meanwhile, and resumes by itself', async () => {
      const the = await world({ activities: ACTIVITIES, ...SMALL })
      const process = the.process()
      const resumesAt = edgeAfter(the.clock.now()) + GUARD_MS
      await the.run(async () => {
        await the.connect(process)
        await process.start()
        const paused = await the.untilPaused(process)
        assert.equal(paused.job.retryAfter?.toISOString(), new Date(resumesAt).toISOString())
        assert.deepEqual([paused.cause, paused.limitedBy], ['yield', { pool: 'read', window: '15min' }])
        assert.equal(paused.message, 'Rate limited, resuming at 07:15')
        assert.equal(the.asked.length, PER_WINDOW)
        const asked = the.asked.length
        await the.clock.sleep(resumesAt - the.clock.now() - 1)
        assert.equal(the.asked.length, asked)
        await the.untilDone(process)
        assert.equal(the.asked[asked]?.at, resumesAt)
        await process.stop()
      })
      const rows = await assertWhole(the, ACTIVITIES)
      assert.deepEqual(detailsAsked(the), idsOf(rows))
    })

    test('an import whose lane was forgotten is found by the recheck within a minute', async () => {
      const the = await world({ activities: ACTIVITIES, ...SMALL })
      const process = the.process()
      const resumesAt = edgeAfter(the.clock.now()) + GUARD_MS
      await the.run(async () => {
        await the.connect(process)
        await process.start()
        await the.untilPaused(process)
        await the.database.query('delete from work_lane')
        await the.untilDone(process)
        await process.stop()
      })
      await assertWhole(the, ACTIVITIES)
      const resumed = the.asked.find(({ at }) => at >= resumesAt)
      assert(resumed !== undefined && resumed.at <= resumesAt + 60_000)
    })

    test('a pause of its own lasts until its time, and of any number of claims one is had', async () => {
      const the = await world({ activities: ACTIVITIES, ...SMALL })
      const process = the.process()
      const store = new JobStore(the.database)
      await the.run(async () => {
        await the.connect(process)
        await process.imports.start(the.athleteId, 'strava', { type: 'full' })
        const { job } = await the.newest(process)
        const claim = async (at: number): Promise<ImportJob | undefined> => await store.claim(job, at)
        const claimed = await claim(the.clock.now())
        assert(claimed)
        const dueAt = the.clock.now() + 60_000
        await store.pause(the.database, claimed, { ending: 'paused', retryAt: dueAt, cause: 'push' }, the.clock.now())
        assert.equal(await claim(dueAt - 1), undefined)
        const claims = await Promise.all([claim(dueAt), claim(dueAt), claim(dueAt)])
        assert.equal(claims.filter(one => one !== undefined).length, 1)
      })
    })

    test('two clicks, and clicks in two processes, are one import', async () => {
      const the = await world({ activities: ACTIVITIES, ...SMALL })
      const [one, other] = [the.process(), the.process()]
      await the.run(async () => {
        await the.connect(one)
        const clicks = [one, other, one, other].map(({ imports }) => imports.start(the.athleteId, 'strava', { type: 'full' }))
        const started = await Promise.all(clicks)
        assert.deepEqual(started.map(({ outcome }) => outcome).toSorted(), ['new', 'running', 'running', 'running'])
        assert.equal(new Set(started.map(answer => ('job' in answer ? answer.job.id : ''))).size, 1)
        await Promise.all([one.start(), other.start()])
        await the.untilDone(one)
        await Promise.all([one.stop(), other.stop()])
        assert.equal((await one.imports.list(the.athleteId, { after: undefined, limit: 9 })).length, 1)
      })
      const rows = await assertWhole(the, ACTIVITIES)
      assert.deepEqual(detailsAsked(the), idsOf(rows))
    })

    test('a process that stops in the middle puts its import back, and another goes on without asking twice', async () => {
      const the = await world({ activities: ACTIVITIES, ...SMALL })
      const [one, other] = [the.process(), the.process()]
      await the.run(async () => {
        await the.connect(one)
        const reached = Promise.withResolvers<void>()
        atDetail(the, 8, () => {
          reached.resolve()
        })
        await one.start()
        await reached.promise
        await one.stop()
        assert.equal((await the.newest(other)).job.status, 'queued')
        const committed = (await stored(the)).filter(row => row.isDetailed).length
        assert(committed >= 7 && committed < ACTIVITIES)
        await other.start()
        await the.untilDone(other)
        await other.stop()
        // The answer that was under way may have been lost, none that was stored.
        assert(detailsAsked(the).slice(8).length <= ACTIVITIES - committed)
      })
      await assertWhole(the, ACTIVITIES)
    })

    test('an import whose process died goes on when its lease is over, and the dead one’s late answer changes nothing', async () => {
      const the = await world({ activities: ACTIVITIES, ...SMALL })
      const [dead, other] = [the.process(), the.process()]
      await the.run(async () => {
        await the.connect(dead)
        atDetail(the, 8, () => {
          dead.die()
        })
        await dead.start()
        await the.clock.sleep(90_000)
        assert.equal(detailsAsked(the).length, 8)
        await other.start()
        const held = Promise.withResolvers<void>()
        atDetail(the, 4, () => {
          dead.revive()
          held.resolve()
        })
        await held.promise
        const view = await the.untilDone(other)
        assert.equal(view.job.cursor['activities_imported'], ACTIVITIES)
        assert.equal(view.job.status, 'completed')
        await Promise.all([dead.stop(), other.stop()])
      })
      const rows = await assertWhole(the, ACTIVITIES)
      const asked = detailsAsked(the)
      assert.equal(asked.length, ACTIVITIES + 1)
      assert.equal(asked[7], asked[8], 'only the answer that died with its process is asked for again')
      assert.deepEqual(new Set(asked), new Set(idsOf(rows)))
    })

    test('a restart during the pause asks nothing before its end', async () => {
      const the = await world({ activities: ACTIVITIES, ...SMALL })
      const [one, other] = [the.process(), the.process()]
      const resumesAt = edgeAfter(the.clock.now()) + GUARD_MS
      await the.run(async () => {
        await the.connect(one)
        await one.start()
        await the.untilPaused(one)
        await one.stop()
        const asked = the.asked.length
        await other.start()
        await the.untilDone(other)
        await other.stop()
        assert((the.asked[asked]?.at ?? 0) >= resumesAt)
      })
      await assertWhole(the, ACTIVITIES)
    })

    test('athletes take turns: in each window neither is more than a call ahead of the other', async () => {
      const the = await world({ activities: ACTIVITIES, ...SMALL, latencyMs: 200 })
      const process = the.process()
      const edge = edgeAfter(the.clock.now())
      await the.run(async () => {
        const first = await the.connect(process)
        the.simulator.control.addAthlete({ seed: 5, activities: ACTIVITIES })
        const second = await the.connect(process)
        await process.start()
        for (const athlete of [first, second]) await the.untilDone(process, athlete)
        await process.stop()
        const mine = new Set(idsOf(await stored(the, first)))
        for (const from of [edge - QUARTER_MS, edge]) {
          const asked = the.asked.filter(({ at, path }) => DETAIL.test(path) && at >= from && at < from + QUARTER_MS)
          const ahead = asked
            .map(({ path }) => (mine.has(path.replace('/activities/', '')) ? 1 : -1))
            .reduce((sum, one) => sum + one, 0)
          assert(Math.abs(ahead) <= 1, `${ahead} of ${asked.length}`)
        }
        assert.equal((await stored(the, second)).filter(row => row.isDetailed).length, ACTIVITIES)
      })
      await assertWhole(the, ACTIVITIES)
      assert.equal(detailsAsked(the).length, 2 * ACTIVITIES)
      // Three pages at the start, and the newest page at each resume.
      assert(the.requests(LIST).length <= 2 * (3 + 4), `${the.requests(LIST).length} list requests`)
    })
  })
}
