// Brings a store to this version's schema: numbered files, applied once, in order, forward only. All that are due commit
// together under a lock, so that ten processes starting at once migrate once, and a failed one leaves nothing behind.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { PacelineError } from '../kernel/errors.ts'
import type { Database, Queryable } from './database.ts'

export interface Migration {
  readonly version: number
  readonly name: string
  readonly hash: string
  readonly text: string
}

const FOLDER = new URL('./migrations/', import.meta.url)
const FILE = /^(\d{4})-([a-z0-9-]+)\.sql$/

/** Any number that no other program uses as an advisory lock in the same database. */
const LOCK = 7_223_546_301

export function migrationsIn(folder: URL = FOLDER): Migration[] {
  const files = readdirSync(folder)
    .filter(file => file.endsWith('.sql'))
    .toSorted()
  return files.map((file, index) => {
    const [, number, name] = FILE.exec(file) ?? []
    if (number === undefined || name === undefined) throw new Error(`${file}: a migration is named 0001-what-it-does.sql`)
    if (Number(number) !== index + 1)
      throw new Error(`${file}: migrations are numbered without gaps, this should be ${index + 1}`)
    const text = readFileSync(new URL(file, folder), 'utf8')
    return { version: index + 1, name, hash: createHash('sha256').update(text).digest('hex'), text }
  })
}

/** Returns the names of the migrations that were applied now. */
export async function migrate(database: Database, migrations: readonly Migration[] = migrationsIn()): Promise<string[]> {
  const apply = async (tx: Queryable): Promise<string[]> => {
    await tx.query('select pg_advisory_xact_lock($1)', [LOCK])
    const due = await dueIn(tx, migrations)
    for (const { version, name, hash, text } of due) {
      await tx.script(text)
      await tx.query('insert into paceline_migration (version, name, hash) values ($1, $2, $3)', [version, name, hash])
    }
    return due.map(({ name }) => name)
  }
  // Waiting for another process's migration, and a migration itself, may take longer than a statement may.
  return await database.transaction(apply, { unhurried: true })
}

interface Applied {
  version: number
  name: string
  hash: string
}

async function dueIn(tx: Queryable, migrations: readonly Migration[]): Promise<Migration[]> {
  await tx.script(`create table if not exists paceline_migration (
    version integer primary key, name text not null, hash text not null, applied_at timestamptz not null default now())`)
  const applied = await tx.query<Applied>('select version, name, hash from paceline_migration order by version')
  for (const { version, name, hash } of applied) {
    const known = migrations[version - 1]
    if (known === undefined) {
      throw new PacelineError(
        'PACE_MIGRATION_UNKNOWN',
        `The store has migration ${version} (${name}), which this version does not know: it was used by a newer Paceline. Start that one.`,
      )
    }
    if (known.hash !== hash) {
      throw new PacelineError(
        'PACE_MIGRATION_CHANGED',
        `Migration ${version} (${known.name}) differs from the one this store has applied; migrations are never edited, add a new one.`,
      )
    }
  }
  return migrations.slice(applied.length)
}
