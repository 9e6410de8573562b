// The whole house in one process: what it does by itself, and what it leaves when it cannot start.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../../src/config.ts'
import { openEngine, type Engine } from '../../src/engine.ts'
import { ROLES } from '../../src/roles.ts'
import { openLog } from '../../src/telemetry/telemetry.ts'
import { prepareFolder, testFolder } from '../stores.ts'
import { until } from '../waiting.ts'

const open = async (folder: string, speed?: number): Promise<Engine> =>
  await openEngine({
    config: readConfig({ PACELINE_PORT: '0' }),
    version: '0.0.0',
    log: openLog({ level: 'silent', pretty: false }),
    folder,
    demo: false,
    speed,
    roles: ROLES,
  })

describe('the engine', () => {
  const folder = testFolder()
  before(async () => {
    await prepareFolder(folder.path)
  })
  after(() => {
    folder.remove()
  })

  test('an opening that fails halfway gives everything back', async () => {
    const secrets = join(folder.path, 'secrets.json')
    writeFileSync(secrets, 'damaged', { mode: 0o600 })
    await assert.rejects(open(folder.path), { code: 'PACE_CONFIG' })
    writeFileSync(
      secrets,
      JSON.stringify({ secretKey: Buffer.alloc(32).toString('base64'), adminToken: 'a'.repeat(20), ingestToken: 'b'.repeat(20) }),
    )
    const engine = await open(folder.path)
    await engine.close()
  })

  test('what is scheduled is done, on scaled time', async () => {
    // A day a second.
    const engine = await open(folder.path, 86_400)
    await engine.service.start()
    const done = async (bell: string): Promise<boolean> =>
      (await engine.app.inject('/metrics')).body.includes(`paceline_bell_rings_total{bell="${bell}",outcome="done"}`)
    await until(async () => (await done('accounts-prune')) && (await done('store-vacuum')))
    await engine.close()
  })
})
