// Erasing in short steps, on every database: hidden at once, others in between, resumed by whoever finds it.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Erasure } from '../../src/accounts/accounts.ts'
import type { Database, Eraser } from '../../src/db/db.ts'
import { PacelineError } from '../../src/kernel/errors.ts'
import { MINUTE_MS } from '../durations.ts'
import { roomsOn } from '../rooms.ts'
import { ShiftedClock } from '../shifted-clock.ts'
import { emptiedStore } from './emptied-store.ts'

const MANY = 3_000
/** A step deletes 250 rows of a table at most; a few tables have rows here. */
const STEP_ROWS_MAX = 1_000

export async function bigAthlete(database: Database, athleteId: string, many = MANY): Promise<void> {
  await database.query(
    `insert into connection (id, athlete_id, vendor, vendor_athlete_id, status, scopes, access_token, connected_at, consented_at)
     values (gen_random_uuid(), $1, 'strava', '1', 'needs_reauth', '{}', '', now(), now())`,
    [athleteId],
  )
  await database.query(
    `insert into activity (id, athlete_id, provider, external_activity_id, name, sport, start_time, manual, summary,
       first_seen_at_utc, last_seen_at_utc, updated_at_utc)
     select gen_random_uuid(), $1, 'strava', n, 'Run', 'Run', now() - n * interval '1 hour', false, '{}', now(), now(), now()
     from generate_series(1, $2::integer) as n`,
    [athleteId, many],
  )
  await database.query(
    `insert into activity_stream (id, activity_id, stream_data, channels_available, point_count, source, fetched_at)
     select gen_random_uuid(), id, '{"time": [0]}', '["time"]', 1, 'strava', now() from activity where athlete_id = $1`,
    [athleteId],
  )
  await database.query(
    `insert into import_jobs (id, athlete_id, vendor, type, status, sync_cursor, created_at, updated_at)
     values (gen_random_uuid(), $1, 'strava', 'full', 'completed', '{}', now(), now())`,
    [athleteId],
  )
}

/** Tells after every transaction how many rows its statements gave back. */
function watched(database: Database, after: (rows: number) => Promise<void>): Database {
  const transaction: Database['transaction'] = async (work, options) => {
    let rows = 0
    const done = await database.transaction(
      tx =>
        work({
          ...tx,
          notify: (...news) => tx.notify(...news),
          script: text => tx.script(text),
          query: async <T>(...asked: Parameters<typeof tx.query>) => {
            const found = await tx.query<T>(...asked)
            rows += found.length
            return found
          },
        }),
      options,
    )
    await after(rows)
    return done
  }
  return {
    kind: database.kind,
    query: (query, values) => database.query(query, values),
    script: text => database.script(text),
    notify: (channel, payload) => database.notify(channel, payload),
    transaction,
    listen: (channel, listener) => database.listen(channel, listener),
    close: () => database.close(),
  }
}

export function erasureContract(name: string, open: () => Promise<Database>): void {
  describe(`erasure: ${name}`, () => {
    const emptied = emptiedStore(open)
    const clock = new ShiftedClock()

    async function world() {
      const database = await emptied()
      const rooms = roomsOn({ database, clock })
      const athleteId = (await rooms.accounts.createAthlete({ name: 'Ada', timezone: null })).id
      await bigAthlete(database, athleteId)
      return { database, athleteId, ...rooms }
    }
    const left = async (database: Database): Promise<unknown> =>
      (
        await database.query('select (select count(*) from activity) as activities, (select count(*) from erasure) as erasures')
      )[0]

    test('a disconnect erases in steps of few rows; from the first on nothing is shown, and others are served in between', async () => {
      const { database, athleteId, activities, accounts, connections, imports, streams } = await world()
      const [one] = (await activities.list(athleteId, { limit: 1 })).items
      assert(one)
      const bob = (await accounts.createAthlete({ name: 'Bob', timezone: null })).id
      const steps: number[] = []
      const between = async (rows: number): Promise<void> => {
        steps.push(rows)
        assert.deepEqual((await activities.list(athleteId, { limit: 9 })).items, [])
        assert.equal(await activities.read(athleteId, one.id), undefined)
        assert.equal(await streams.shape(athleteId, one.id), undefined)
        assert.deepEqual(await imports.list(athleteId, { after: undefined, limit: 9 }), [])
        assert.deepEqual(await connections.list(athleteId), [])
        await activities.createManual(bob, {
          name: 'Swim',
          sport: 'Swim',
          start: new Date(),
          elapsedSeconds: 60,
        })
      }
      const { erasure } = roomsOn({ database: watched(database, between), clock })
      const receipt = await erasure.disconnect(athleteId, 'strava')
      assert.partialDeepStrictEqual(receipt?.counts, { connection: 1, activity: MANY, activity_stream: MANY })
      assert(steps.length > 10)
      assert(Math.max(...steps) <= STEP_ROWS_MAX, `the largest step had ${Math.max(...steps)} rows`)
      assert.deepEqual(await left(database), { activities: steps.length, erasures: 0 })
      assert.equal(await erasure.disconnect(athleteId, 'strava'), undefined)
    })

    test('an erasure whose process died is finished by another, and the receipt counts both parts', async () => {
      const { database, athleteId, erasure } = await world()
      let steps = 0
      const dying = watched(database, () => (++steps === 5 ? Promise.reject(new Error('killed')) : Promise.resolve()))
      await assert.rejects(roomsOn({ database: dying, clock }).erasure.disconnect(athleteId, 'strava'), /killed/)
      assert.deepEqual(await erasure.receipts(athleteId, { limit: 9 }), [])
      await erasure.resume()
      assert.partialDeepStrictEqual(await left(database), { erasures: 1 }, 'somebody may be at it')
      clock.advance(2 * MINUTE_MS)
      await erasure.resume()
      assert.deepEqual(await left(database), { activities: 0, erasures: 0 })
      const [receipt] = await erasure.receipts(athleteId, { limit: 9 })
      assert.partialDeepStrictEqual(receipt?.counts, { connection: 1, activity: MANY, activity_stream: MANY })
    })

    test('a step that gives way to another transaction is tried again, not told to who disconnects', async () => {
      const { database, athleteId } = await world()
      let steps = 0
      const { erasure } = roomsOn({
        clock,
        database: watched(database, async () => {
          steps += 1
          // A step may be told as undone; the next one does what is left.
          if (steps === 3) throw new PacelineError('PACE_DATABASE_CONFLICT', 'A transaction gave way to another one.')
        }),
      })
      assert.equal((await erasure.disconnect(athleteId, 'strava'))?.counts['connection'], 1)
      assert.deepEqual(await left(database), { activities: 0, erasures: 0 })
    })

    test('one erasure that cannot go on keeps no other from going on', async () => {
      const { database, athleteId, accounts } = await world()
      const other = (await accounts.createAthlete({ name: 'Bo', timezone: null })).id
      for (const [id, at] of [
        [athleteId, 2],
        [other, 1],
      ] as const)
        await database.query(
          `insert into erasure (id, athlete_id, vendor, cause, stepped_at) values ($1, $1, 'strava', 'disconnected', now() - $2 * interval '1 hour')`,
          [id, at],
        )
      const failing: Eraser = {
        tables: [],
        due: async () => [],
        erase: async (_, whose) => {
          if (whose.athleteId === athleteId) throw new Error('a table of it is broken')
          return { counts: { activity: 1 }, hasMore: false }
        },
      }
      const { connections } = roomsOn({ database, clock })
      const parts = { database, clock, newId: randomUUID, connections, retentionDays: () => undefined }
      await assert.rejects(new Erasure({ ...parts, erasers: [failing] }).resume(), /broken/)
      assert.deepEqual(await database.query('select athlete_id as id from erasure'), [{ id: athleteId }])
    })

    test('two disconnects at once give one receipt, to both', async () => {
      const { database, athleteId, erasure } = await world()
      const other = roomsOn({ database, clock }).erasure
      const receipts = await Promise.all([erasure.disconnect(athleteId, 'strava'), other.disconnect(athleteId, 'strava')])
      assert.equal(receipts[0]?.id, receipts[1]?.id)
      assert.equal((await erasure.receipts(athleteId, { limit: 9 })).length, 1)
    })

    test('an import that is asked for beside a disconnect is not begun after it', async () => {
      const { database, athleteId, erasure } = await world()
      await database.query("update connection set status = 'active'")
      const transaction: Database['transaction'] = async (work, options) => {
        await erasure.deauthorised('strava', '1')
        return await database.transaction(work, options)
      }
      const { imports } = roomsOn({ database: { ...watched(database, () => Promise.resolve()), transaction }, clock })
      assert.deepEqual(await imports.start(athleteId, 'strava', { type: 'full' }), { outcome: 'not_connected' })
      assert.deepEqual(await database.query('select 1 from import_jobs union all select 1 from work_lane'), [])
    })

    test('who holds the connection is waited for; afterwards nobody holds it, and nothing is stored', async () => {
      const { database, athleteId, connections, erasure } = await world()
      const held = await database.transaction(tx => connections.hold(tx, athleteId, 'strava'))
      await erasure.disconnect(athleteId, 'strava')
      const after = await database.transaction(tx => connections.hold(tx, athleteId, 'strava'))
      assert.deepEqual([held, after], [true, false])
    })
  })
}
