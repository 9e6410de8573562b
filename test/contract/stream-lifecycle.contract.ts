// The column of the streams' state is what its lifecycle says: every move of it is taken, every other is refused, whoever asks.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { migrate, type Database } from '../../src/db/db.ts'
import { pairs, type Lifecycle } from '../../src/kernel/lifecycle.ts'
import { streamLifecycle, streamStatuses as states, type StreamStatus } from '../../src/activities/stream-lifecycle.ts'
import { driftCheckFor, planOf } from './lifecycle.contract.ts'

const COLUMNS = { stream_fetch_error: "'no'", stream_fetch_deferred_until: 'now()' } as const
const columnsOf = (status: StreamStatus): string[] =>
  Object.entries(COLUMNS).map(([column, value]) => {
    const { set = [] } = (streamLifecycle as Lifecycle).states[status] ?? {}
    return set.includes(column) ? value : 'null'
  })

/** As the document has them, and a new beginning by hand from everywhere but fetching. */
const LEGAL = [
  'pending>fetching',
  'failed>fetching',
  'deferred>fetching',
  'fetching>success',
  'fetching>failed',
  'fetching>deferred',
  'fetching>unavailable',
  'success>pending',
  'failed>pending',
  'deferred>pending',
  'unavailable>pending',
]

export function streamLifecycleContract(name: string, open: () => Promise<Database>): void {
  describe(`the lifecycle of streams on ${name}`, () => {
    let database: Database
    const athlete = randomUUID()
    before(async () => {
      database = await open()
      await migrate(database)
      await database.query("insert into athlete (id, name, created_at) values ($1, 'Ada', now())", [athlete])
    })
    after(async () => {
      await database.close()
    })

    const insert = async (status: StreamStatus): Promise<string> => {
      const id = randomUUID()
      await database.query(
        `insert into activity (id, athlete_id, provider, external_activity_id, name, sport, start_time, manual, summary,
           first_seen_at_utc, last_seen_at_utc, updated_at_utc, stream_fetch_status, ${Object.keys(COLUMNS).join(', ')})
         values ($1, $2, 'strava', $4, 'Run', 'Run', now(), false, '{}', now(), now(), now(), $3, ${columnsOf(status).join(', ')})`,
        [id, athlete, status, id],
      )
      return id
    }
    const move = async (id: string, to: StreamStatus): Promise<void> => {
      const values = Object.keys(COLUMNS).map((column, at) => `${column} = ${columnsOf(to)[at]}`)
      await database.query(`update activity set stream_fetch_status = $2, ${values.join(', ')} where id = $1`, [id, to])
    }

    test('the migrated table has not drifted from it', async () => {
      await database.script(driftCheckFor(streamLifecycle))
    })

    test('its moves are those of the document', () => {
      assert.deepEqual(pairs(streamLifecycle).toSorted(), LEGAL.toSorted())
    })

    for (const from of states) {
      for (const to of states) {
        const isTaken = from === to || LEGAL.includes(`${from}>${to}`)
        test(`${from} -> ${to} is ${isTaken ? 'taken' : 'refused'}`, async () => {
          const id = await insert(from)
          if (isTaken) await move(id, to)
          else await assert.rejects(move(id, to), { message: `illegal move ${from} -> ${to} on activity` })
        })
      }
    }

    test('what waits is what can be claimed', async () => {
      const rows = await database.query('select s from unnest($1::text[]) s where stream_is_waiting(s) order by s', [states])
      assert.deepEqual(
        rows,
        streamLifecycle.moves.claim.from.toSorted().map(s => ({ s })),
      )
    })

    test('what is due is found by its index', async () => {
      const due = 'stream_is_due(activity, now(), now(), now())'
      assert.match(
        await planOf(database, `select from activity where ${due}`),
        /ix_activity_stream_backfill_eligible|activity_streams_waiting/,
      )
    })

    test('what has no external id is unavailable and nothing else', async () => {
      const id = await insert('unavailable')
      await database.query('update activity set external_activity_id = null where id = $1', [id])
      await assert.rejects(move(id, 'pending'), /activity_streams_need_an_external_id/)
    })

    test('streams that are not as long as they say are refused', async () => {
      const id = await insert('success')
      const keep = (data: string): Promise<unknown> =>
        database.query(
          `insert into activity_stream (id, activity_id, stream_data, channels_available, point_count, source, fetched_at)
           values ($1, $2, $3::text::jsonb, '["time"]', 2, 'strava', now())`,
          [randomUUID(), id, data],
        )
      for (const wrong of ['{"time":[0]}', '{"distance":[0,1]}']) await assert.rejects(keep(wrong), /activity_stream_counted/)
      await keep('{"time":[0,1]}')
      await assert.rejects(keep('{"time":[0,1]}'), /uq_activity_stream_activity_id/)
    })
  })
}
