// Roles split over processes: the one that works answers for itself, and the others see whether anybody works.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { paceline, started, up, type Running, type Settings, type Up } from '../programs/paceline.ts'
import { startPostgres } from '../servers/postgres.ts'
import type { TestServer } from '../servers/server.ts'
import { testFolder } from '../stores.ts'
import { until } from '../waiting.ts'

describe('a worker in a process of its own', () => {
  const [apiFolder, workerFolder] = [testFolder(), testFolder()]
  let database: TestServer
  let settings: Settings
  let api: Up
  let worker: Running & { found: string }
  before(async () => {
    database = await startPostgres()
    settings = { PACELINE_POSTGRES_URL: database.url, PACELINE_ADMIN_TOKEN: 'an-operator-of-several-processes' }
    api = await up(apiFolder.path, settings, '--roles', 'api')
    const listening = { ...settings, PACELINE_HEALTH_PORT: '0' }
    worker = await started(workerFolder.path, listening, ['up', '--roles', 'worker'], /http:\/\/127\.0\.0\.1:\d+/)
  })
  after(async () => {
    await api.stop()
    await database.stop()
    for (const folder of [apiFolder, workerFolder]) folder.remove()
  })

  const statusOf = async (url: string): Promise<number> => (await fetch(url)).status
  const status = async (folder: string): Promise<{ code: number | null; workers: number }> => {
    const { code, out } = await paceline(folder, settings, 'status', '--json')
    return { code, workers: (JSON.parse(out) as { workers: unknown[] }).workers.length }
  }

  // A figure that took long to count is some seconds old.
  const hasWorkers = async (count: number): Promise<boolean> =>
    (await (await fetch(`${api.url}/metrics`)).text()).includes(`\npaceline_workers ${count}\n`)

  test('answers healthz, readyz and metrics on PACELINE_HEALTH_PORT, and nothing else', async () => {
    assert.equal(await statusOf(`${worker.found}/healthz`), 200)
    await until(async () => (await statusOf(`${worker.found}/readyz`)) === 200)
    const metrics = await (await fetch(`${worker.found}/metrics`)).text()
    assert.match(metrics, /^paceline_service_running\{service="work"\} 1$/m)
    for (const path of ['/', '/docs', '/v1/quota', '/admin/doctor']) assert.equal(await statusOf(`${worker.found}${path}`), 404)
  })

  test('is seen by the readyz, the metrics and the status of the others, and by status in its own folder', async () => {
    await until(async () => (await statusOf(`${api.url}/readyz`)) === 200)
    await until(() => hasWorkers(1))
    for (const folder of [apiFolder, workerFolder]) assert.deepEqual(await status(folder.path), { code: 0, workers: 1 })
  })

  test('that stopped makes readyz name the worker, and the API serves on', async () => {
    assert.equal((await worker.stop()).code, 0)
    const answer = await fetch(`${api.url}/readyz`)
    assert.deepEqual([answer.status, ((await answer.json()) as { error: string }).error], [503, 'Not ready: worker.'])
    assert.equal(await statusOf(`${api.url}/readyz?for=api`), 200)
    await until(() => hasWorkers(0))
    assert.deepEqual(await status(workerFolder.path), { code: 1, workers: 0 })
  })
})
