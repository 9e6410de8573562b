// Several processes that meet an empty database at once, as after `docker compose up`: each one lives, and the work of the first start is
// done once.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Client } from 'pg'
import { migrationsIn } from '../../src/db/db.ts'
import { paceline, silent, up, type Running, type Up } from '../programs/paceline.ts'
import { testFolder } from '../stores.ts'
import { until } from '../waiting.ts'
import { freshDatabase } from './fresh-database.ts'

const fresh = freshDatabase()
const folders: ReturnType<typeof testFolder>[] = []
after(async () => {
  await fresh.drop()
  for (const folder of folders) folder.remove()
})

function newFolder(): string {
  const folder = testFolder()
  folders.push(folder)
  return folder.path
}

const isReady = async ({ url }: Up): Promise<boolean> => (await fetch(`${url}/readyz`)).status === 200

async function select<T extends object>(url: string, sql: string): Promise<T[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<T>(sql)
  await client.end()
  return rows
}

/** Waits for all of them, stops those that live, and complains of any that did not start or did not end well. */
async function assertAllLive(starting: readonly Promise<Running | Up>[]): Promise<void> {
  const started = await Promise.allSettled(starting)
  const living = started.flatMap(start => (start.status === 'fulfilled' ? [start.value] : []))
  for (const each of living) if ('url' in each) await until(() => isReady(each))
  const ends = await Promise.all(living.map(each => each.stop()))
  const failures = started.flatMap(start => (start.status === 'rejected' ? [start.reason as unknown] : []))
  assert.deepEqual([...failures, ...ends.filter(({ code }) => code !== 0)], [])
}

test('ten first starts at once on a fresh PostgreSQL all live', async () => {
  const url = await fresh.url()
  await assertAllLive(Array.from({ length: 10 }, () => up(newFolder(), { PACELINE_POSTGRES_URL: url })))
  const [applied] = await select<{ count: number }>(url, 'select count(*)::int as count from paceline_migration')
  assert.equal(applied?.count, migrationsIn().length)
})

test('first starts at once after a migration, each with its own roles, all live, also in one folder', async () => {
  const [settings, shared] = [{ PACELINE_POSTGRES_URL: await fresh.url() }, newFolder()]
  assert.equal((await paceline(newFolder(), settings, 'migrate')).code, 0)
  const apis = [newFolder(), shared].map(folder => up(folder, settings, '--roles', 'api'))
  const workers = [newFolder(), shared].flatMap(folder =>
    ['worker', 'scheduler'].map(roles => silent(folder, settings, '--roles', roles)),
  )
  await assertAllLive([...apis, ...workers])
})
