// No table that holds something of an athlete is forgotten when their data is erased.
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { identityTables } from '../../src/accounts/accounts.ts'
import type { Database, Eraser } from '../../src/db/db.ts'
import { erasers } from '../../src/rooms.ts'
import { openMigrated } from '../stores.ts'

async function forgotten(database: Database, known: readonly Eraser[]): Promise<string[]> {
  const rows = await database.query<{ table: string }>(
    `select distinct table_name as table from information_schema.columns
     where table_schema = 'public' and column_name in ('athlete_id', 'user_id', 'vendor_athlete_id')`,
  )
  const covered = new Set([...known.flatMap(eraser => eraser.tables), ...Object.keys(identityTables)])
  return rows.map(row => row.table).filter(table => !covered.has(table))
}

test('every table with an athlete in it has an eraser, or says why it needs none', async () => {
  const database = await openMigrated()
  assert.deepEqual(await forgotten(database, erasers), [])
  await database.script('create table lap (athlete_id uuid)')
  assert.deepEqual(await forgotten(database, erasers), ['lap'])
  await database.close()
})
