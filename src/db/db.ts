// Moves rows and transactions and tells listeners. The door of the room: the port, its two adapters, SQL blocks, migrations.
export type { Database, Listener, Queryable, Row } from './database.ts'
export { followTime, timeFollower } from './database-time.ts'
export { tellingOutages } from './database-outage.ts'
export { lockFolder, type FolderLock } from './folder-lock.ts'
export { loadEraser, type ErasedStep, type Eraser, type ErasureStep, type Whose } from './eraser.ts'
export { migrate, migrationsIn, type Migration } from './migrations.ts'
export { loadQueries, type Query } from './queries.ts'
import type { PgliteDatabase, PgliteOptions } from './database-pglite.ts'
import type { PostgresOptions } from './database-postgres.ts'
import type { Database } from './database.ts'

// Each adapter is loaded when it is opened: a process on PostgreSQL does not pay for the embedded engine.
export async function openPglite(options: PgliteOptions): Promise<PgliteDatabase> {
  return await (await import('./database-pglite.ts')).openPglite(options)
}

export async function openPostgres(options: PostgresOptions): Promise<Database> {
  return await (await import('./database-postgres.ts')).openPostgres(options)
}
