// A store for a suite: opened and migrated before its first test, emptied for each, closed after the last.
import { after, before } from 'node:test'
import { migrate, type Database } from '../../src/db/db.ts'

/** Athletes take what is theirs with them. */
const TABLES = [
  'athlete',
  'api_requests',
  'quota_window',
  'quota_learned',
  'outbox',
  'outbox_relay',
  'bus_message',
  'bus_durable',
  'dead_letter',
  'dead_letter_gone',
  'sleep_record',
  'sleep_data',
  'sleep_priority',
  'ingest_key',
  'circuit_breaker',
  'poll_share',
  'work_gate',
  'worker_heartbeat',
]

export function emptiedStore(open: () => Promise<Database>): () => Promise<Database> {
  let database: Database
  before(async () => {
    database = await open()
    await migrate(database)
  })
  after(async () => {
    await database.close()
  })
  return async () => {
    for (const table of TABLES) await database.query(`delete from ${table}`)
    return database
  }
}
