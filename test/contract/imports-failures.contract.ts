// What goes wrong on the way costs time, never an activity, and never a storm of requests.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Database } from '../../src/db/db.ts'
import type { ImportView } from '../../src/imports/imports.ts'
import type { Fault } from '../../src/simulator/simulator.ts'
import { HOUR_MS, MINUTE_MS, QUARTER_MS } from '../durations.ts'
import type { ImportWorld, Process } from '../import-world.ts'
import { MemoryBudget } from '../memory-budget.ts'
import { LedgerBudget } from '../../src/quota/budget-ledger.ts'
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
  WIDE,
  worlds,
} from './imports-fixture.ts'

const ACTIVITIES = 20
const DETAILS = 'GET /api/v3/activities/{id}'

/** An import that `meddle` interferes with in its first pause. */
async function withPause(the: ImportWorld, meddle: (process: Process) => Promise<void> | void): Promise<ImportView> {
  const process = the.process()
  return await the.run(async () => {
    await the.connect(process)
    await process.start()
    await the.untilPaused(process)
    await meddle(process)
    const view = await the.untilDone(process)
    await process.stop()
    return view
  })
}

/** An import under faults from its beginning to its end, or until they are lifted `forMs` later. */
async function withFaults(the: ImportWorld, faults: readonly Omit<Fault, 'vendor'>[], forMs?: number): Promise<ImportView> {
  const process = the.process()
  return await the.run(async () => {
    await the.connect(process)
    the.simulator.control.setFaults(faults.map(fault => ({ vendor: 'strava', ...fault })))
    await process.start()
    if (forMs !== undefined) {
      await the.clock.sleep(forMs)
      the.simulator.control.clearFaults()
    }
    const view = await the.untilDone(process)
    await process.stop()
    return view
  })
}

/** As a real Strava's 429 has it: the count that was reached. */
function withUsage(response: Response, usage: string): Response {
  const headers = new Headers(response.headers)
  headers.set('X-ReadRateLimit-Limit', usage)
  headers.set('X-ReadRateLimit-Usage', usage)
  return new Response(response.body, { status: response.status, headers })
}

export function importsFailuresContract(name: string, open: () => Promise<Database>): void {
  describe(`imports in trouble: ${name}`, () => {
    const world = worlds(open)

    test('a token that expired during a pause of hours is renewed, once', async () => {
      const the = await world({ activities: ACTIVITIES, ...SMALL })
      const [one, other] = [the.process(), the.process()]
      await the.run(async () => {
        await the.connect(one)
        await one.start()
        await the.untilPaused(one)
        await one.stop()
        await the.clock.sleep(7 * HOUR_MS)
        await other.start()
        await the.untilDone(other)
        await other.stop()
      })
      assert.equal(the.vendor.refreshes, 1)
      const rows = await assertWhole(the, ACTIVITIES)
      assert.deepEqual(detailsAsked(the), idsOf(rows))
    })

    test('a token that the vendor ended before its time is renewed, once, and nothing is asked twice', async () => {
      const the = await world({ activities: ACTIVITIES, ...SMALL })
      await withPause(the, () => {
        the.simulator.control.expireTokens('strava')
      })
      assert.equal(the.vendor.refreshes, 1)
      const rows = await assertWhole(the, ACTIVITIES)
      assert.deepEqual(detailsAsked(the), idsOf(rows))
    })

    test('an activity that is deleted during the crawl goes here too, and the rest comes', async () => {
      const the = await world({ activities: ACTIVITIES, ...SMALL })
      const view = await withPause(the, async () => {
        const [oldest] = (await stored(the)).toReversed()
        assert(oldest !== undefined && !oldest.isDetailed)
        the.simulator.control.deleteActivity(oldest.id)
      })
      await assertWhole(the, ACTIVITIES - 1)
      assert.equal(view.message, `Completed: ${ACTIVITIES - 1} activities imported`)
      assert.equal(view.progress.total, ACTIVITIES - 1)
      assert.equal(await eventsOf(the, 'athlete-ally.activity.deleted'), 1)
    })

    test('an activity that is added during the crawl comes with it', async () => {
      const the = await world({ activities: ACTIVITIES, ...SMALL })
      const view = await withPause(the, () => {
        the.simulator.control.addActivity({ name: 'Lunch Run', photos: 1 })
      })
      const rows = await assertWhole(the, ACTIVITIES + 1)
      assert.equal(rows[0]?.name, 'Lunch Run')
      assert.equal(view.message, `Completed: ${ACTIVITIES + 1} activities imported`)
    })

    test('an activity that is added while only photos are owed comes with its detail', async () => {
      const the = await world({ activities: 3, ...SMALL })
      for (let nth = 0; nth < 16; nth++) the.simulator.control.addActivity({ start: '2026-03-01T10:00:00Z', photos: 1 })
      const process = the.process()
      await the.run(async () => {
        await the.connect(process)
        await process.start()
        for (;;) {
          const { progress } = await the.untilPaused(process)
          if (progress.detailed === progress.listed) break
          await the.clock.sleep(60_000)
        }
        the.simulator.control.addActivity({ name: 'Lunch Run', photos: 1 })
        await the.untilDone(process)
        await process.stop()
      })
      await assertWhole(the, 3 + 16 + 1)
    })

    for (const [history, same] of [
      [195, 12],
      [0, 205],
    ] as const) {
      test(`${same} activities of the same second across the edge of a page are all listed (after ${history} others)`, async () => {
        const the = await world({ activities: history, ...WIDE })
        for (let nth = 0; nth < same; nth++) the.simulator.control.addActivity({ start: '2015-03-01T10:00:00Z' })
        const process = the.process()
        await the.run(async () => {
          await the.connect(process)
          const listed = Promise.withResolvers<void>()
          the.onAnswer = path => {
            if (DETAIL.test(path)) listed.resolve()
          }
          await process.start()
          await listed.promise
          await process.stop()
        })
        assert.equal(new Set(idsOf(await stored(the))).size, history + same)
      })
    }

    const STORM = { kind: '429', route: DETAILS } as const
    const stormyWorld = { activities: ACTIVITIES, startsAt: Date.UTC(2026, 2, 10, 22, 1) }
    const MIDNIGHT = Date.UTC(2026, 2, 11)

    /** An import through an hour of "too many"; answers how many details and lists it asked for in that hour, and when details came after it. */
    async function throughStorm(the: ImportWorld, faults: readonly Omit<Fault, 'vendor'>[]) {
      const view = await withFaults(the, faults, HOUR_MS)
      assert.equal(view.job.status, 'completed')
      assert.deepEqual(view.problems, [])
      await assertWhole(the, ACTIVITIES)
      const overAt = stormyWorld.startsAt + HOUR_MS
      const during = (path: RegExp): number => the.asked.filter(one => one.at < overAt && path.test(one.path)).length
      const after = the.asked.filter(one => one.at >= overAt && DETAIL.test(one.path)).map(({ at }) => at)
      return { details: during(DETAIL), lists: during(LIST), goesOnAt: Math.min(...after) }
    }

    test('a storm of 429 that tells no count closes the window, then the day; it is never hammered, and the import goes on after it', async () => {
      const storm = await throughStorm(await world(stormyWorld), [STORM, { kind: 'no_headers', route: DETAILS }])
      assert.deepEqual({ ...storm, goesOnAt: storm.goesOnAt >= MIDNIGHT }, { details: 2, lists: 2, goesOnAt: true })
    })

    test('a storm of 429 whose count is full closes the day at once', async () => {
      const the = await world(stormyWorld)
      the.onItsWay = (_, response) => Promise.resolve(response.status === 429 ? withUsage(response, '100,1000') : response)
      const storm = await throughStorm(the, [STORM])
      assert.deepEqual({ ...storm, goesOnAt: storm.goesOnAt >= MIDNIGHT }, { details: 1, lists: 2, goesOnAt: true })
    })

    test('a storm of 429 whose counts have room is asked once in each window, and the day stays open', async () => {
      const the = await world(stormyWorld)
      const storm = await throughStorm(the, [STORM])
      const tried = the.asked.filter(({ path }) => DETAIL.test(path)).slice(0, storm.details)
      const windows = tried.map(({ at }) => Math.floor(at / QUARTER_MS))
      assert.deepEqual(
        windows,
        [0, 1, 2, 3, 4].map(nth => Math.floor(stormyWorld.startsAt / QUARTER_MS) + nth),
      )
      assert(storm.lists <= storm.details, `${storm.lists} lists`)
      assert(storm.goesOnAt < stormyWorld.startsAt + HOUR_MS + QUARTER_MS + MINUTE_MS, 'in the next window')
    })

    for (const [when, route] of [
      ['of everything', undefined],
      ['of details', DETAILS],
    ] as const) {
      test(`an hour of 503 ${when} costs few requests and no activity`, async () => {
        const the = await world({ activities: 30 })
        const view = await withFaults(the, [{ kind: '5xx', ...(route && { route }) }], HOUR_MS)
        const during = the.asked.filter(({ at }) => at < Date.UTC(2026, 2, 10, 7, 1))
        assert(during.length >= 10 && during.length <= 60, `${during.length} requests`)
        assert.equal(view.job.status, 'completed')
        assert.deepEqual(view.problems, [])
        await assertWhole(the, 30)
      })
    }

    test('an outage while it resumes parks no activity', async () => {
      const the = await world({ activities: ACTIVITIES, ...SMALL })
      const view = await withPause(the, async process => {
        the.simulator.control.setFaults([{ vendor: 'strava', kind: '5xx' }])
        await the.clock.sleep(HOUR_MS)
        assert.equal((await the.newest(process)).job.pause, 'vendor')
        const failed = 'select from activity where detail_failed_at is not null'
        assert.deepEqual(await the.database.query(failed), [])
        the.simulator.control.clearFaults()
      })
      assert.deepEqual(view.problems, [])
      const rows = await assertWhole(the, ACTIVITIES)
      assert.deepEqual(detailsAsked(the), idsOf(rows))
    })

    test('a list that cannot be read is asked for again later; the import does not fail', async () => {
      const the = await world({ activities: ACTIVITIES })
      const view = await withFaults(the, [{ kind: 'malformed', route: 'GET /api/v3/athlete/activities', times: 2 }])
      assert.equal(view.job.status, 'completed')
      await assertWhole(the, ACTIVITIES)
    })

    for (const kind of ['5xx', 'malformed'] as const) {
      test(`an activity that always answers ${kind} is told, keeps its summary and holds nothing up`, async () => {
        const the = await world({ activities: ACTIVITIES })
        const bad = the.simulator.control.addActivity({ name: 'Cursed Run' })
        assert(bad)
        const view = await withFaults(the, [{ kind, route: `/api/v3/activities/${bad.id}` }])
        assert.equal(view.job.status, 'completed')
        assert.deepEqual(
          view.problems.map(({ externalId }) => externalId),
          [bad.id],
        )
        assert.notEqual(view.problems[0]?.reason, '')
        const rows = await stored(the)
        assert.deepEqual(
          rows.filter(row => !row.isDetailed).map(row => row.name),
          ['Cursed Run'],
        )
        assert.equal(rows.length, ACTIVITIES + 1)
        assert(detailsAsked(the).filter(id => id === bad.id).length <= 4)
      })
    }

    test('entries of the list that cannot be read are told, and hide none of the others', async () => {
      const the = await world({ activities: ACTIVITIES, ...WIDE })
      const isBroken = new Set<string>()
      the.onItsWay = async (path, response) => {
        if (!LIST.test(path)) return response
        const list = JSON.parse(await response.text()) as { id: number; start_date: string }[]
        for (const { id } of list.slice(0, 3)) if (isBroken.size < 3) isBroken.add(String(id))
        const odd = list.map(each => (isBroken.has(String(each.id)) ? { ...each, start_date: 'yesterday' } : each))
        return new Response(JSON.stringify(odd), { headers: response.headers })
      }
      const view = await withFaults(the, [])
      assert.equal(isBroken.size, 3)
      assert.deepEqual(new Set(view.problems.map(({ externalId }) => externalId)), isBroken)
      await assertWhole(the, ACTIVITIES - 3)
    })

    test('a detail that failed in passing is asked once more at the end, and its photos come too', async () => {
      const the = await world({ activities: ACTIVITIES })
      const bad = the.simulator.control.addActivity({ photos: 2 })
      assert(bad)
      // Twice: the call tries once more in place.
      const view = await withFaults(the, [{ kind: '5xx', route: `/api/v3/activities/${bad.id}`, times: 2 }])
      assert.deepEqual(view.problems, [])
      await assertWhole(the, ACTIVITIES + 1)
      assert.equal(detailsAsked(the).at(-1), bad.id)
      assert(the.requests(PHOTOS).includes(`/activities/${bad.id}/photos`))
    })

    test('photos that cannot be had are told; the activity and the others’ photos are there', async () => {
      const the = await world({ activities: ACTIVITIES })
      const bad = the.simulator.control.addActivity({ photos: 2 })
      assert(bad)
      const view = await withFaults(the, [{ kind: '5xx', route: `/api/v3/activities/${bad.id}/photos` }])
      assert.equal(view.job.status, 'completed')
      assert.match(
        view.problems.map(({ externalId, reason }) => `${externalId} ${reason}`).join(),
        new RegExp(`^${bad.id} photos: `),
      )
      assert.deepEqual(
        (await stored(the)).filter(row => !row.isDetailed),
        [],
      )
    })

    test('while the budget service is away it waits a minute at a time, says so, and asks for no detail', async () => {
      const the = await world({ activities: ACTIVITIES })
      const ledger = new LedgerBudget({ database: the.database, clock: the.clock })
      const budget = new MemoryBudget({ clock: the.clock, ledger })
      const cache = Object.assign(budget, { refill: () => Promise.resolve(budget.wipe()) })
      const process = the.process({ cache })
      await the.run(async () => {
        await the.connect(process)
        budget.away = true
        await process.start()
        const paused = await the.untilPaused(process)
        assert.equal(paused.message, 'Waiting for the budget service')
        const waits = (paused.job.retryAfter?.getTime() ?? 0) - the.clock.now()
        assert(waits > 0 && waits <= 60_000)
        await the.clock.sleep(10 * 60_000)
        assert.equal(detailsAsked(the).length, 0)
        assert(the.requests(LIST).length <= 3 + 2, `${the.requests(LIST).length} list requests`)
        budget.away = false
        await the.untilDone(process)
        await process.stop()
      })
      await assertWhole(the, ACTIVITIES)
    })

    test('without a consent it fails, and says what to do', async () => {
      const the = await world({ activities: ACTIVITIES, ...SMALL })
      const view = await withPause(the, () => {
        the.simulator.control.deauthorise('strava')
      })
      assert.equal(view.job.status, 'failed')
      assert.equal(view.message, 'Strava needs a new consent; connect it again.')
      const [row] = await the.database.query<{ code: string }>('select error_code as code from import_jobs where id = $1', [
        view.job.id,
      ])
      assert.equal(row?.code, 'PACE_NEEDS_REAUTH')
      assert.equal((await the.process().imports.start(the.athleteId, 'strava', { type: 'full' })).outcome, 'needs_reauth')
    })
  })
}
