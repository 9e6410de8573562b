// Embedded stores for tests. Initialising a cluster takes seconds and migrating it another, so each is done once and kept: for a
// version of PGlite, and for a set of migrations.
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PGlite } from '@electric-sql/pglite'
import manifest from '../package.json' with { type: 'json' }
import { migrate, migrationsIn, openPglite } from '../src/db/db.ts'
import { PgliteDatabase } from '../src/db/database-pglite.ts'
import { discard, watch } from './servers/reaper.ts'

const cache = fileURLToPath(new URL('../node_modules/.cache/paceline', import.meta.url))
const VERSION = manifest.dependencies['@electric-sql/pglite']

/** A file or a folder in the cache. Several test files may want it at once; each renames a whole one into place. */
async function kept(name: string, make: (path: string) => Promise<void>): Promise<string> {
  const path = join(cache, name)
  if (existsSync(path)) return path
  const mine = `${path}.${process.pid}`
  mkdirSync(cache, { recursive: true })
  await make(mine)
  try {
    renameSync(mine, path)
  } catch (error) {
    // Somebody else's folder is there already, and a folder does not replace one.
    if (!existsSync(path)) throw error
    rmSync(mine, { recursive: true })
  }
  return path
}

const blobOf = (file: string): Blob => new Blob([readFileSync(file)])

async function dump(pglite: PGlite, file: string): Promise<void> {
  // Without it every store that starts from the file replays what was written.
  await pglite.exec('checkpoint')
  writeFileSync(file, Buffer.from(await (await pglite.dumpDataDir('none')).arrayBuffer()))
  await pglite.close()
}

const cluster = (): Promise<string> => kept(`cluster-${VERSION}.tar`, async file => dump(await PGlite.create(), file))

function schema(): string {
  const hashes = migrationsIn().map(({ hash }) => hash)
  return createHash('sha256').update(hashes.join()).digest('hex').slice(0, 12)
}

/** Without the databases that new ones are copied from: two thirds of a cluster's files, and no test makes one. */
async function migrated(): Promise<string> {
  return await kept(`migrated-${VERSION}-${schema()}.tar`, async file => {
    const pglite = await PGlite.create({ loadDataDir: blobOf(await cluster()) })
    await migrate(new PgliteDatabase(pglite))
    await pglite.exec('update pg_database set datistemplate = false')
    for (const name of ['template0', 'template1']) await pglite.exec(`drop database ${name}`)
    await dump(pglite, file)
  })
}

/** A store as it is before the first start. */
export async function openMemory(): Promise<PgliteDatabase> {
  return await openPglite({ template: blobOf(await cluster()) })
}

export async function openMigrated(): Promise<PgliteDatabase> {
  return await openPglite({ template: blobOf(await migrated()) })
}

/** Makes a store where there is none, as a first start does. */
export async function makeFolder(folder: string): Promise<void> {
  const database = await openPglite({ folder, template: blobOf(await cluster()), fsync: false })
  await migrate(database)
  await database.close()
}

/** Whoever opens the folder next finds an existing, migrated store. */
export async function prepareFolder(folder: string): Promise<void> {
  const made = await kept(`folder-${VERSION}-${schema()}`, makeFolder)
  cpSync(join(made, 'store'), join(folder, 'store'), { recursive: true })
}

export interface TestFolder {
  readonly path: string
  remove(): void
}

export function testFolder(): TestFolder {
  const path = mkdtempSync(join(tmpdir(), 'paceline-test-'))
  watch({ folder: path })
  return {
    path,
    remove: () => {
      discard(path)
    },
  }
}
