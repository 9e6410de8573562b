// Who opens an activity sees it as the vendor has it today: its detail is fetched again when it is older than a day, once for all who look,
// within the budget. Whatever goes wrong, what is stored is shown.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Database } from '../../src/db/db.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../durations.ts'
import type { ImportWorld, Process } from '../import-world.ts'
import { DETAIL, idsOf, stored, synced, worlds } from './imports-fixture.ts'

const PATIENCE_MS = 2_000

interface Opened {
  readonly externalId: string
  /** Opens the activity, as the page of it does. */
  readonly open: (process: Process) => Promise<string | null | undefined>
}

async function opened(the: ImportWorld): Promise<Opened> {
  const [externalId = ''] = idsOf(await stored(the))
  const [row] = await the.database.query<{ id: string }>('select id from activity where external_activity_id = $1', [externalId])
  const id = row?.id ?? ''
  const open = async (process: Process): Promise<string | null | undefined> => {
    await process.imports.refreshed(the.athleteId, id)
    return (await process.activities.read(the.athleteId, id))?.description
  }
  return { externalId, open }
}

/** A synced history of which an activity was described since, two days ago. */
async function described(the: ImportWorld): Promise<Opened & { readonly process: Process }> {
  const process = await synced(the)
  const one = await opened(the)
  await process.imports.refreshing.start()
  the.simulator.control.changeActivity(one.externalId, { description: 'With the club' })
  // Nobody imports meanwhile: a sweep a minute would take a while.
  await process.stop()
  await the.clock.sleep(2 * DAY_MS)
  return { ...one, process }
}

export function importsRefreshContract(name: string, open: () => Promise<Database>): void {
  describe(`opened activities: ${name}`, () => {
    const world = worlds(open)
    const playing = async (options: { latencyMs?: number }, play: (the: ImportWorld) => Promise<void>): Promise<void> => {
      const the = await world({ activities: 3, ...options })
      await the.run(async () => {
        await play(the)
      })
    }

    test('an edited description comes when the activity is opened a day later, for one call, however many open it', () =>
      playing({ latencyMs: 100 }, async the => {
        const { process, ...one } = await described(the)
        const seen = await Promise.all([one.open(process), one.open(process), one.open(process)])
        assert.deepEqual(seen, ['With the club', 'With the club', 'With the club'])
        await one.open(process)
        assert.deepEqual(the.requests(DETAIL), [`/activities/${one.externalId}`])
        assert.equal((await process.quota.vendorState('strava')).pools[0]?.windows[0]?.used, 1)
        await process.imports.refreshing.stop()
      }))

    test('of two processes one asks', () =>
      playing({ latencyMs: 100 }, async the => {
        const { process, ...one } = await described(the)
        const other = the.process()
        await other.imports.refreshing.start()
        await Promise.all([one.open(process), one.open(other)])
        assert.equal(the.requests(DETAIL).length, 1)
        for (const each of [process, other]) await each.imports.refreshing.stop()
      }))

    test('a detail of today is not fetched again', () =>
      playing({}, async the => {
        const process = await synced(the)
        const one = await opened(the)
        await process.imports.refreshing.start()
        the.simulator.control.changeActivity(one.externalId, { description: 'With the club' })
        await process.stop()
        await the.clock.sleep(23 * HOUR_MS)
        assert.notEqual(await one.open(process), 'With the club')
        assert.deepEqual(the.requests(DETAIL), [])
        await process.imports.refreshing.stop()
      }))

    for (const [kind, againMs] of [
      ['5xx', 15 * MINUTE_MS],
      ['not_found', DAY_MS],
    ] as const) {
      test(`a ${kind} changes nothing, and is not asked for again at every look`, () =>
        playing({}, async the => {
          const { process, ...one } = await described(the)
          the.simulator.control.setFaults([{ vendor: 'strava', kind, route: `/api/v3/activities/${one.externalId}` }])
          assert.notEqual(await one.open(process), undefined)
          const asked = the.requests(DETAIL).length
          for (let look = 0; look < 10; look++) {
            await the.clock.sleep(againMs / 11)
            await one.open(process)
          }
          assert.equal(the.requests(DETAIL).length, asked)
          the.simulator.control.clearFaults()
          await the.clock.sleep(againMs)
          assert.equal(await one.open(process), 'With the club')
          await process.imports.refreshing.stop()
        }))
    }

    /** Twelve activities of two days ago, and six refreshes a day: a tenth of 57. */
    const walking = async (walk: (the: ImportWorld, openAll: () => Promise<void>) => Promise<void>): Promise<void> => {
      const the = await world({ activities: 12, limits: { read: [100, 60], overall: [200, 120] } })
      await the.run(async () => {
        const process = await synced(the)
        await process.stop()
        await process.imports.refreshing.start()
        await the.clock.sleep(2 * DAY_MS)
        const rows = await the.database.query<{ id: string }>('select id from activity')
        await walk(the, async () => {
          for (const { id } of rows) await process.imports.refreshed(the.athleteId, id)
        })
        await process.imports.refreshing.stop()
      })
    }

    test('who walks through years of activities takes a tenth of the day’s budget', () =>
      walking(async (the, openAll) => {
        await openAll()
        assert.equal(the.requests(DETAIL).length, 6)
        await the.clock.sleep(DAY_MS + MINUTE_MS)
        await openAll()
        assert.equal(the.requests(DETAIL).length, 12)
      }))

    test('what could not be sent takes nothing of that tenth', () =>
      walking(async (the, openAll) => {
        await the.database.query("update connection set status = 'needs_reauth'")
        await openAll()
        await the.database.query("update connection set status = 'active'")
        await the.clock.sleep(HOUR_MS)
        await openAll()
        assert.equal(the.requests(DETAIL).length, 6)
      }))

    test('a vendor that fails all day is not asked for more than that tenth either', () =>
      walking(async (the, openAll) => {
        the.simulator.control.setFaults([{ vendor: 'strava', kind: '5xx', route: 'GET /api/v3/activities/{id}' }])
        for (let hour = 0; hour < 20; hour++) {
          await openAll()
          await the.clock.sleep(HOUR_MS)
        }
        // The last call may have been tried once more in place.
        assert(the.requests(DETAIL).length <= 7, `${the.requests(DETAIL).length} calls`)
      }))

    test('what is past its retention is not asked for', async () => {
      const the = await world({ activities: 0, retentionDays: 7 })
      the.simulator.control.addActivity({ start: new Date(the.clock.now() - 6 * DAY_MS).toISOString() })
      await the.run(async () => {
        const { process, ...one } = await described(the)
        await one.open(process)
        assert.deepEqual(the.requests(DETAIL), [])
        await process.imports.refreshing.stop()
      })
    })

    test('a slow vendor is waited for two seconds; then what is stored is shown, and the new detail comes behind it', () =>
      playing({ latencyMs: 5_000 }, async the => {
        const { process, ...one } = await described(the)
        const openedAt = the.clock.now()
        assert.notEqual(await one.open(process), 'With the club')
        assert.equal(the.clock.now() - openedAt, PATIENCE_MS)
        // A new token comes first.
        await the.clock.sleep(10_000)
        assert.equal(await one.open(process), 'With the club')
        assert.equal(the.requests(DETAIL).length, 1)
        await process.imports.refreshing.stop()
      }))

    test('without a consent, and where nobody serves any more, what is stored is shown at once', () =>
      playing({}, async the => {
        const { process, ...one } = await described(the)
        await the.database.query("update connection set status = 'needs_reauth'")
        assert.notEqual(await one.open(process), undefined)
        await process.imports.refreshing.stop()
        await the.database.query("update connection set status = 'active'")
        assert.notEqual(await one.open(process), undefined)
        assert.deepEqual(the.requests(DETAIL), [])
      }))
  })
}
