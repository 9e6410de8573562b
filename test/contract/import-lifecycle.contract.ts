// The table of imports is what its lifecycle says: every move of it is taken, every other is refused, whoever asks.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { migrate, type Database } from '../../src/db/db.ts'
import { importLifecycle, importStatuses as states, type ImportStatus } from '../../src/imports/job-lifecycle.ts'
import { pairs, type Lifecycle } from '../../src/kernel/lifecycle.ts'
import { driftCheckFor, planOf } from './lifecycle.contract.ts'

const LIVE = states.filter(state => !(importLifecycle as Lifecycle).states[state]?.final)
const COLUMNS = { retry_after: 'now()', error: "'no'" } as const
const columnsOf = (status: ImportStatus): string[] =>
  Object.entries(COLUMNS).map(([column, value]) => {
    const { set = [] } = (importLifecycle as Lifecycle).states[status] ?? {}
    return set.includes(column) ? value : 'null'
  })

export function importLifecycleContract(name: string, open: () => Promise<Database>): void {
  describe(`the lifecycle of imports on ${name}`, () => {
    let database: Database
    before(async () => {
      database = await open()
      await migrate(database)
    })
    after(async () => {
      await database.close()
    })

    /** A row in this state, of an athlete of its own: one import of each is live. */
    const insert = async (status: ImportStatus): Promise<string> => {
      const [id, athlete] = [randomUUID(), randomUUID()]
      await database.query("insert into athlete (id, name, created_at) values ($1, 'Ada', now())", [athlete])
      await database.query(
        `insert into import_jobs (id, athlete_id, vendor, type, status, sync_cursor, created_at, updated_at, ${Object.keys(COLUMNS).join(', ')})
         values ($1, $2, 'strava', 'full', $3, '{}', now(), now(), ${columnsOf(status).join(', ')})`,
        [id, athlete, status],
      )
      return id
    }
    const move = async (id: string, to: ImportStatus): Promise<void> => {
      const values = Object.keys(COLUMNS).map((column, at) => `${column} = ${columnsOf(to)[at]}`)
      await database.query(`update import_jobs set status = $2, ${values.join(', ')} where id = $1`, [id, to])
    }

    test('the migrated table has not drifted from it', async () => {
      await database.script(driftCheckFor(importLifecycle))
    })

    for (const from of states) {
      for (const to of states.filter(state => state !== from)) {
        const isLegal = pairs(importLifecycle).includes(`${from}>${to}`)
        test(`${from} -> ${to} is ${isLegal ? 'taken' : 'refused'}`, async () => {
          const id = await insert(from)
          if (isLegal) await move(id, to)
          else await assert.rejects(move(id, to), { message: `illegal move ${from} -> ${to} on import_jobs` })
        })
      }
    }

    test('what is live is what is not over', async () => {
      const rows = await database.query('select s from unnest($1::text[]) s where import_is_live(s)', [states])
      assert.deepEqual(
        rows,
        LIVE.map(s => ({ s })),
      )
    })

    test('what is live is found by its index', async () => {
      const live = "select from import_jobs where athlete_id = gen_random_uuid() and vendor = 'strava' and import_is_live(status)"
      assert.match(await planOf(database, live), /import_jobs_one_live/)
      const whole = 'select from import_jobs where next_full_at <= now() order by next_full_at'
      assert.match(await planOf(database, whole), /import_jobs_next_full/)
      const ended = 'delete from import_jobs where finished_at < now() and next_full_at is null'
      assert.match(await planOf(database, ended), /import_jobs_ended/)
    })

    test('a second live import of the same athlete and vendor is refused', async () => {
      for (const status of LIVE) {
        const id = await insert(status)
        const twice = database.query(
          `insert into import_jobs (id, athlete_id, vendor, type, status, sync_cursor, created_at, updated_at)
           select $2, athlete_id, vendor, type, 'queued', '{}', now(), now() from import_jobs where id = $1`,
          [id, randomUUID()],
        )
        await assert.rejects(twice, /import_jobs_one_live/)
      }
    })
  })
}
