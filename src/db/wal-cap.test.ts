import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { testFolder } from '../../test/stores.ts'
import { openPglite } from './database-pglite.ts'

const MB = 1024 * 1024
/** Of 100 kB each, straight into the log. */
const MESSAGES = 2_000
const FILL = "select pg_logical_emit_message(false, 'filled', repeat('x', 100000))"

test('the log of the embedded store stays small, however much is written', async () => {
  const folder = testFolder()
  const database = await openPglite({ folder: folder.path, fsync: false })
  try {
    for (let n = 0; n < MESSAGES; n++) await database.query(FILL)
    const log = join(folder.path, 'store', 'pg_wal')
    const bytes = readdirSync(log, { withFileTypes: true })
      .filter(entry => entry.isFile())
      .reduce((sum, entry) => sum + statSync(join(log, entry.name)).size, 0)
    const [written] = await database.query<{ bytes: number }>(
      'select pg_wal_lsn_diff(pg_current_wal_lsn(), $1)::float8 as bytes',
      ['0/0'],
    )
    assert((written?.bytes ?? 0) > 160 * MB, `${written?.bytes} bytes were written`)
    assert(bytes <= 96 * MB, `${bytes / MB} MB of log are kept`)
  } finally {
    await database.close()
    folder.remove()
  }
})
