// A lifecycle's SQL on a real database: the guard refuses exactly the steps that the table of moves does not hold, the CHECKs
// tie columns to states, and a table that was left behind by its lifecycle is seen. Rooms with a stored lifecycle use
// driftCheckFor on their own table.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Database } from '../../src/db/db.ts'
import { checksFor, defineLifecycle, guardFor, type Lifecycle, pairs } from '../../src/kernel/lifecycle.ts'

export interface SqlSession {
  exec(sql: string): Promise<unknown>
  close(): Promise<void>
}

const lifecycle = defineLifecycle({
  table: 'task',
  column: 'status',
  initial: ['waiting', 'ready'],
  states: {
    waiting: { means: 'its time has not come' },
    ready: { means: 'may be claimed' },
    running: { means: 'is held under a lease', set: ['lease_until'] },
    retry: { means: 'failed and waits to be tried again', set: ['last_error'] },
    done: { means: 'is finished', final: true, set: ['finished_at'] },
    cancelled: { means: 'was stopped on request', final: true, set: ['finished_at'] },
    dead: { means: 'is out of attempts', final: true, set: ['finished_at', 'last_error'] },
  },
  moves: {
    ready: { from: ['waiting', 'retry'], to: 'ready', when: 'its time came' },
    claim: { from: ['ready'], to: 'running', when: 'a worker took the lease' },
    complete: { from: ['running'], to: 'done', when: 'the work returned' },
    snooze: { from: ['running'], to: 'waiting', when: 'the quota said wait' },
    fail: { from: ['running'], to: 'retry', when: 'the work threw and attempts remain' },
    bury: { from: ['running'], to: 'dead', when: 'the work threw and no attempt remains' },
    cancel: { from: ['waiting', 'ready', 'retry', 'running'], to: 'cancelled', when: 'somebody asked' },
    redrive: { from: ['dead', 'cancelled'], to: 'ready', when: 'an operator asked', byHand: true },
  },
})
type State = keyof typeof lifecycle.states
const states = Object.keys(lifecycle.states) as State[]
const COLUMNS = ['lease_until', 'last_error', 'finished_at'] as const
type Column = (typeof COLUMNS)[number]

// The status may be null here, so that it is the CHECK that refuses it.
const tableFor = (l: Lifecycle): string =>
  `create table ${l.table} (id int primary key, status text, lease_until timestamptz, last_error text, finished_at timestamptz,
   ${constraintsOf(l).join(', ')})`
const constraintsOf = (l: Lifecycle): string[] =>
  Object.entries(checksFor(l)).map(([name, check]) => `constraint ${name} ${check}`)

const isSetIn = (state: State, column: Column): boolean => lifecycle.states[state].set?.includes(column) ?? false
const valueFor = (state: State, column: Column): string => (isSetIn(state, column) ? "'2026-01-01'" : 'null')

let lastId = 0
function insert(state: State, overrides: Partial<Record<Column, string>> = {}): string {
  const values = COLUMNS.map(column => overrides[column] ?? valueFor(state, column))
  return `insert into task values (${++lastId}, '${state}', ${values.join(', ')})`
}
const move = (to: State): string =>
  `update task set status = '${to}', ${COLUMNS.map(column => `${column} = ${valueFor(to, column)}`).join(', ')} where id = ${lastId}`

/** Fails with SQLSTATE PL002 unless the table's checks and its guard are those that its lifecycle gives today. */
export function driftCheckFor(l: Lifecycle): string {
  const guard = `${l.table}_${l.column}_guard`
  const checksOf = (table: string): string => `select 'constraint ' || conname as part, pg_get_constraintdef(oid) as definition
    from pg_constraint where conrelid = '${table}'::regclass and contype = 'c' and conname ~ '^${l.table}_.*_(known|iff)$'`
  return `create temporary table living (like ${l.table}, ${constraintsOf(l).join(', ')}) on commit drop;
    do $drift$
    declare differing text;
    begin
      select string_agg(distinct part, ', ' order by part) into differing
      from (
        ${checksOf(l.table)}
        union all
        select 'guard', pair[1] from pg_trigger, pg_proc, regexp_matches(prosrc, '''([a-z_]+>[a-z_]+)''', 'g') as pair
        where tgrelid = '${l.table}'::regclass and tgenabled = 'O' and tgfoid = pg_proc.oid and proname = '${guard}'
      ) as stored
      full join (
        ${checksOf('living')}
        union all
        select 'guard', unnest(array['${pairs(l).join("', '")}'])
      ) as lived using (part, definition)
      where stored is null or lived is null;
      if differing is not null then
        raise exception '${l.table} is not what its lifecycle says: %', differing using errcode = 'PL002';
      end if;
    end $drift$;`
}

function guardSuite(exec: SqlSession['exec']): void {
  for (const from of states) {
    for (const to of states.filter(state => state !== from)) {
      const legal = pairs(lifecycle).includes(`${from}>${to}`)
      test(`${from} -> ${to} is ${legal ? 'accepted' : 'refused'}`, async () => {
        await exec(insert(from))
        if (legal) await exec(move(to))
        else await assert.rejects(exec(move(to)), { code: 'PL001', message: `illegal move ${from} -> ${to} on task` })
      })
    }
  }

  test('a row that keeps its state may change in everything else', async () => {
    for (const state of states) {
      await exec(insert(state))
      await exec(move(state))
    }
  })

  test('a guard that is applied again takes the place of the earlier one', async () => {
    const moves = { ...lifecycle.moves, redo: { from: ['done'], to: 'ready', when: 'an operator asked', byHand: true } } as const
    await exec(guardFor({ ...lifecycle, moves }))
    await exec(insert('done'))
    await exec(move('ready'))
    await exec(guardFor(lifecycle))
    await exec(insert('done'))
    await assert.rejects(exec(move('ready')), { code: 'PL001' })
  })
}

function checkSuite(exec: SqlSession['exec']): void {
  for (const state of states) {
    for (const column of COLUMNS) {
      const isSet = isSetIn(state, column)
      test(`${state} ${isSet ? 'without' : 'with'} ${column} is refused`, async () => {
        const wrong = insert(state, { [column]: isSet ? 'null' : "'2026-01-01'" })
        await assert.rejects(exec(wrong), { code: '23514', constraint: `task_${column}_iff` })
      })
    }
  }

  test('a state that the lifecycle does not know, and none at all, is refused', async () => {
    for (const unknown of ["'sleeping'", "''", 'null']) {
      const row = `insert into task (id, status) values (${++lastId}, ${unknown})`
      await assert.rejects(exec(row), { code: '23514', constraint: 'task_status_known' })
    }
  })
}

function driftSuite(exec: SqlSession['exec']): void {
  const assertDrift = async (l: Lifecycle, parts: string): Promise<void> => {
    await assert.rejects(exec(driftCheckFor(l)), { code: 'PL002', message: `task is not what its lifecycle says: ${parts}` })
  }

  test('a table made from its lifecycle has not drifted', async () => {
    await exec(driftCheckFor(lifecycle))
  })

  test('a state that came later is seen', async () => {
    const later = {
      ...lifecycle,
      states: { ...lifecycle.states, lost: { means: 'was never heard of again', final: true } },
    } as const
    await assertDrift(later, 'constraint task_status_known')
  })

  test('a column that is set in another state than before is seen', async () => {
    const states = { ...lifecycle.states, retry: { means: 'is held while it waits', set: ['lease_until'] } }
    await assertDrift({ ...lifecycle, states }, 'constraint task_last_error_iff, constraint task_lease_until_iff')
  })

  test('a column that is no longer tied to a state is seen', async () => {
    const states = { ...lifecycle.states, running: { means: 'has no lease any more' } }
    await assertDrift({ ...lifecycle, states }, 'constraint task_lease_until_iff')
  })

  test('a move that was added or taken away is seen', async () => {
    const { snooze: _, ...moves } = lifecycle.moves
    await assertDrift({ ...lifecycle, moves }, 'guard')
    await assertDrift({ ...lifecycle, moves: { ...moves, snooze: { from: ['running'], to: 'retry', when: '' } } }, 'guard')
  })

  test('a guard that is missing or switched off is seen', async () => {
    await exec('alter table task disable trigger task_status_guard')
    await assertDrift(lifecycle, 'guard')
    await exec('drop trigger task_status_guard on task')
    await assertDrift(lifecycle, 'guard')
    await exec(guardFor(lifecycle))
    await exec(driftCheckFor(lifecycle))
  })
}

export function lifecycleContract(name: string, open: () => Promise<SqlSession>): void {
  describe(`a stored lifecycle on ${name}`, () => {
    let session: SqlSession
    const exec = (sql: string): Promise<unknown> => session.exec(sql)
    before(async () => {
      session = await open()
      await exec(tableFor(lifecycle))
      await exec(guardFor(lifecycle))
    })
    after(async () => {
      await session.close()
    })
    describe('the guard', () => {
      guardSuite(exec)
    })
    describe('the checks', () => {
      checkSuite(exec)
    })
    describe('drift', () => {
      driftSuite(exec)
    })
  })
}

/** How the database would find the rows if it could not read the whole table. */
export async function planOf(database: Database, query: string): Promise<string> {
  return await database.transaction(async tx => {
    await tx.script('set local enable_seqscan = off')
    return JSON.stringify(await tx.query(`explain ${query}`))
  })
}
