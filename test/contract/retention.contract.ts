// Retention finds who has something too old by indexes, on every database, and leaves everybody else alone. Of nights, another vendor's
// takes over.
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Database } from '../../src/db/db.ts'
import { blocksOf, positioned } from '../../src/db/queries.ts'
import { RowBus, streamsOf } from '../../src/events/events.ts'
import { erasers } from '../../src/rooms.ts'
import type { Word } from '../../src/sleep/sleep-store.ts'
import { DAY_MS, MINUTE_MS } from '../durations.ts'
import { roomsOn } from '../rooms.ts'
import { ShiftedClock } from '../shifted-clock.ts'
import { emptiedStore } from './emptied-store.ts'

const RETENTION_DAYS = 30
/** Each search, and the indexes that it may use. */
const SEARCHES: Readonly<Record<string, readonly [file: string, indexes: RegExp]>> = {
  activity_due: ['src/activities/eraser.sql', /Index Only Scan using activity_age/],
  checkin_due: ['src/activities/eraser.sql', /Index Only Scan using checkin_age/],
  due: [
    'src/sleep/eraser.sql',
    /Index Only Scan using sleep_record_age .*Index Only Scan using athlete_pkey .*Index Cond: \(id = /s,
  ],
  sleep_heard_due: ['src/sleep/heard-eraser.sql', /Index Only Scan using sleep_heard_age/],
}

export function retentionContract(name: string, open: () => Promise<Database>): void {
  describe(`retention: ${name}`, () => {
    const emptied = emptiedStore(open)
    const clock = new ShiftedClock()
    const daysAgo = (days: number): Date => new Date(clock.now() - days * DAY_MS)
    const settings = { retentionDays: () => RETENTION_DAYS }

    async function world() {
      const database = await emptied()
      const { accounts } = roomsOn({ database, clock })
      const athlete = async (): Promise<string> => (await accounts.createAthlete({ name: 'Ada', timezone: null })).id
      return { database, athlete, erasure: roomsOn({ database, clock, settings }).erasure }
    }
    const addActivity = async (database: Database, athleteId: string, start: Date): Promise<void> => {
      await database.query(
        `insert into activity (id, athlete_id, provider, external_activity_id, name, sport, start_time, manual, summary,
           first_seen_at_utc, last_seen_at_utc, updated_at_utc)
         values (gen_random_uuid(), $1, 'strava', gen_random_uuid(), 'Run', 'Run', $2, false, '{}', $2, $2, $2)`,
        [athleteId, start],
      )
    }
    const addEvent = async (database: Database, event: { subject: string; payload: object }): Promise<void> => {
      await database.query(
        'insert into outbox (id, subject, payload, created_at) values (gen_random_uuid(), $1, $2::text::jsonb, $3)',
        [event.subject, JSON.stringify(event.payload), daysAgo(40)],
      )
    }
    const dayAgo = (days: number): string => daysAgo(days).toISOString().slice(0, 10)
    /** What a vendor told of a night when it was over. */
    const night = (userId: string, vendor: 'oura' | 'whoop', days: number): Word => {
      const at = daysAgo(days).getTime()
      const said = { durationMinutes: 420, qualityScore: 80, isTentative: false, capturedAt: at }
      return { record: { userId, date: dayAgo(days), vendor, externalId: `${days}`, ...said }, writtenAt: at, traceparent: '' }
    }

    test('what is too old is found by its indexes', async () => {
      const database = await emptied()
      for (const [block, [file, indexes]] of Object.entries(SEARCHES)) {
        const { text } = positioned(blocksOf(readFileSync(file, 'utf8')).get(block) ?? '')
        const plan = await database.transaction(async tx => {
          await tx.script('set local enable_seqscan = off; set local enable_bitmapscan = off; set local enable_sort = off')
          await tx.script(`prepare search as ${text}`)
          const rows = await tx.query("explain execute search ('strava', '2026-01-01')")
          await tx.script('deallocate search')
          return rows.map(row => row['QUERY PLAN']).join('\n')
        })
        assert.match(plan, indexes, block)
      }
    })

    test('who has something too old loses that alone, with a receipt; who has not costs no statement', async () => {
      const { database, athlete, erasure } = await world()
      const old = await athlete()
      for (const days of [40, 35, 2]) await addActivity(database, old, daysAgo(days))
      for (let count = 0; count < 5; count++) await addActivity(database, await athlete(), daysAgo(2))
      const { statements, counted } = counting(database)
      const counted_ = roomsOn({ database: counted, clock, settings }).erasure
      const receipts = await counted_.retain('strava')
      assert.deepEqual(
        receipts.map(({ counts }) => counts),
        [{ activity_stream: 0, activity_photo: 0, activity: 2, checkin: 0, sleep_data: 0 }],
      )
      assert.deepEqual(await database.query('select count(*) from activity'), [{ count: 6 }])
      assert.deepEqual([statements.outside, statements.transactions], [Object.keys(SEARCHES).length, 1])
      assert.deepEqual(await counted_.retain('strava'), [])
      assert.deepEqual([statements.outside, statements.transactions], [2 * Object.keys(SEARCHES).length, 1])
      assert.equal((await erasure.receipts(old, { limit: 9 })).length, 1)
    })

    test('every kind of thing is found by its own age', async () => {
      const { database, athlete, erasure } = await world()
      const told = (userId: string, days: number) => ({
        subject: 'athlete-ally.sleep.raw-received',
        payload: { eventId: 'e', payload: { userId, date: dayAgo(days), raw: { source: 'oura' } } },
      })
      const [ada, bob] = [await athlete(), await athlete()]
      const heard = 'insert into sleep_heard (athlete_id, vendor, date, digest, captured_at) values ($1, $2, $3, $4, $5)'
      for (const [who, days] of [
        [ada, 40],
        [bob, 2],
      ] as const) {
        await database.query(heard, [who, 'oura', daysAgo(days), 'digest', daysAgo(days)])
        await addEvent(database, told(who, days))
      }
      assert.deepEqual(await erasure.retain('oura'), [], 'nothing that a receipt counts')
      const left = await database.query('select athlete_id as id from sleep_heard')
      assert.deepEqual(left, [{ id: bob }])
      const events = await database.query("select payload #>> '{payload,userId}' as id from outbox")
      assert.deepEqual(events, [{ id: bob }])
      const checkin =
        "insert into checkin (id, athlete_id, provider, external_id, created_at) values (gen_random_uuid(), $1, 'foursquare', $2, $3)"
      for (const days of [40, 2]) await database.query(checkin, [ada, String(days), daysAgo(days)])
      assert.deepEqual(
        (await erasure.retain('foursquare')).map(({ counts }) => counts['checkin']),
        [1],
      )
    })

    test("of nights what is too old goes, and another vendor's of the same day takes over and is told", async () => {
      const { database, athlete, erasure } = await world()
      const [ada, bob] = [await athlete(), await athlete()]
      const { sleep } = roomsOn({ database, clock })
      await sleep.rank()
      // Paceline's time is not the database's.
      clock.advance(DAY_MS)
      const begun = daysAgo(0)
      const nights = [night(ada, 'oura', 40), night(ada, 'whoop', 40), night(ada, 'oura', 35), night(ada, 'oura', 2)]
      await sleep.store([...nights, night(bob, 'oura', 2), night('somebody', 'oura', 40)], begun)
      const counting = async (userId: string): Promise<string[]> =>
        (await sleep.list({ userId, limit: 9 })).map(({ date, vendor }) => `${date} ${vendor}`)
      assert.deepEqual(await counting(ada), [`${dayAgo(2)} oura`, `${dayAgo(35)} oura`, `${dayAgo(40)} oura`])
      assert.deepEqual(
        (await erasure.retain('oura')).map(({ counts }) => counts['sleep_data']),
        [2],
      )
      assert.deepEqual(await counting(ada), [`${dayAgo(2)} oura`, `${dayAgo(40)} whoop`])
      assert.deepEqual(await counting(bob), [`${dayAgo(2)} oura`])
      assert.deepEqual(await counting('somebody'), [`${dayAgo(40)} oura`], 'belongs to whoever ingested it')
      assert.deepEqual(
        await database.query('select date::text, vendor from sleep_record where user_id = $1 order by date', [ada]),
        [
          { date: dayAgo(40), vendor: 'whoop' },
          { date: dayAgo(2), vendor: 'oura' },
        ],
      )
      const told = await database.query(
        `select subject, payload #>> '{record,date}' as date, outbox_vendor(payload) as vendor, created_at >= $2 as timely
         from outbox where outbox_athlete(payload) = $1 order by position`,
        [ada, begun],
      )
      const subject = 'athlete-ally.sleep.normalized-stored'
      assert.deepEqual(told, [
        { subject, date: dayAgo(2), vendor: 'oura', timely: true },
        { subject, date: dayAgo(40), vendor: 'whoop', timely: true },
      ])
      assert.deepEqual(await erasure.retain('oura'), [])
    })

    test('a deletion that somebody has yet to hear of stays, and makes nobody due; what else is told of the erased goes', async () => {
      const { database, athlete, erasure } = await world()
      const athleteId = await athlete()
      const deleted = 'athlete-ally.activity.deleted'
      const imported = 'athlete-ally.activity.imported'
      const payload = { activityId: 'a', athleteId, vendor: 'strava', externalId: '1' }
      await addEvent(database, { subject: deleted, payload })
      await addEvent(database, { subject: imported, payload: { ...payload, start: daysAgo(40) } })
      const bus = new RowBus({ database, clock, streams: streamsOf(7) })
      const durable = await bus.subscribe({ name: 'test', subject: deleted, ackWaitMs: MINUTE_MS })
      const data = Buffer.from(JSON.stringify(payload))
      const message = (id: string, subject: string) => ({ id, subject, data })
      await bus.publish([message('heard', deleted), message('owed', deleted), message('imported', imported)])
      await durable.ack(await durable.pull(1, new AbortController().signal))
      await bus.close()
      await database.query('update bus_message set published_at = $1', [daysAgo(40)])
      const due = async (): Promise<string[]> => {
        const found = await Promise.all(erasers.map(each => each.due(database, { vendor: 'strava', before: daysAgo(30) })))
        return found.flat()
      }
      assert.deepEqual(await due(), [])
      await addActivity(database, athleteId, daysAgo(40))
      assert.deepEqual(await due(), [athleteId])
      await erasure.retain('strava')
      assert.deepEqual(await database.query('select subject from outbox'), [{ subject: deleted }])
      assert.deepEqual(await database.query('select message_id as id from bus_message'), [{ id: 'owed' }])
    })
  })
}

/** Counts statements that are no part of a transaction, and transactions. */
function counting(database: Database) {
  const statements = { outside: 0, transactions: 0 }
  const counted: Database = {
    kind: database.kind,
    query: (query, values) => {
      statements.outside++
      return database.query(query, values)
    },
    script: text => database.script(text),
    notify: (channel, payload) => database.notify(channel, payload),
    transaction: (work, options) => {
      statements.transactions++
      return database.transaction(work, options)
    },
    listen: (channel, listener) => database.listen(channel, listener),
    close: () => database.close(),
  }
  return { statements, counted }
}
