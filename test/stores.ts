// Embedded stores for tests. Initialising a cluster takes seconds, so one is made per PGlite version and kept as a template.
import { existsSync, mkdirSync, readFileSync, renameSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PGlite } from '@electric-sql/pglite'
import manifest from '../package.json' with { type: 'json' }
import { migrate, openPglite } from '../src/db/db.ts'
import type { PgliteDatabase } from '../src/db/database-pglite.ts'
import { discard, watch } from './servers/reaper.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

async function template(): Promise<Blob> {
  const file = join(root, 'node_modules', '.cache', 'paceline', `cluster-${manifest.dependencies['@electric-sql/pglite']}.tar`)
  if (!existsSync(file)) {
    const pglite = await PGlite.create()
    const dump = await pglite.dumpDataDir('none')
    await pglite.close()
    mkdirSync(join(file, '..'), { recursive: true })
    // Several test files may be here at once; each renames a whole file into place.
    writeFileSync(`${file}.${process.pid}`, Buffer.from(await dump.arrayBuffer()))
    renameSync(`${file}.${process.pid}`, file)
  }
  return new Blob([readFileSync(file)])
}

export async function openMemory(): Promise<PgliteDatabase> {
  return await openPglite({ template: await template() })
}

export async function openMigrated(): Promise<PgliteDatabase> {
  const database = await openMemory()
  await migrate(database)
  return database
}

/** Makes the store's folder from the template; whoever opens it next finds an existing one. */
export async function prepareFolder(folder: string): Promise<void> {
  const database = await openPglite({ folder, template: await template(), fsync: false })
  await database.close()
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
