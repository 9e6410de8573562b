import { after, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openMigrated, testFolder } from '../test/stores.ts'
import { readConfig } from './config.ts'
import { diagnose, nodeFinding } from './doctor.ts'
import type { Finding } from './http/http.ts'
import { PacelineError } from './kernel/errors.ts'

const answering = { ping: () => Promise.resolve() }
const silent = { ping: () => Promise.reject(new PacelineError('PACE_REDIS_UNAVAILABLE', 'Redis does not answer.')) }

describe('doctor', () => {
  const folder = testFolder()
  after(() => {
    folder.remove()
  })
  const find = async (
    check: string,
    settings: Record<string, string> = {},
    patient: Partial<Parameters<typeof diagnose>[1]> = {},
  ): Promise<Finding> => {
    const findings = await diagnose(readConfig(settings), {
      folder: folder.path,
      database: undefined,
      redis: undefined,
      nats: undefined,
      ...patient,
    })
    const found = findings.find(finding => finding.check === check)
    assert(found, `nothing is said about ${check}`)
    return found
  }

  test('an old Node is an error that says what to do', () => {
    assert.equal(nodeFinding('24.1.0').level, 'ok')
    assert.deepEqual(nodeFinding('20.20.2'), {
      check: 'node',
      level: 'error',
      sentence: 'Node 20.20.2 is too old.',
      todo: 'Run `npm install` here, which installs Node 24 for Paceline, or install it yourself.',
    })
  })

  test('a store that answers is well; one that is locked may be; one that does not open is not', async () => {
    const database = await openMigrated()
    assert.match((await find('store', {}, { database })).sentence, /^PostgreSQL 18\S* .*\(embedded\) answers\.$/)
    await database.close()
    assert.equal((await find('store', {}, { database })).level, 'error')
    assert.equal((await find('store', {}, { database: new PacelineError('PACE_STORE_LOCKED', 'in use by 7') })).level, 'warning')
    assert.equal((await find('store', {}, { database: new PacelineError('PACE_STORE_BROKEN', 'does not open') })).level, 'error')
  })

  test('servers are well when they answer, or are not used', async () => {
    for (const check of ['redis', 'nats'] as const) {
      assert.match((await find(check)).sentence, /Not used/)
      assert.equal((await find(check, {}, { [check]: answering })).level, 'ok')
      assert.equal((await find(check, {}, { [check]: silent })).level, 'error')
    }
  })

  test('secrets that others can read are an error', async () => {
    const file = join(folder.path, 'secrets.json')
    writeFileSync(file, '{}', { mode: 0o600 })
    assert.equal((await find('secrets')).level, 'ok')
    chmodSync(file, 0o644)
    assert.deepEqual(await find('secrets'), {
      check: 'secrets',
      level: 'error',
      sentence: `Other users can read ${file}.`,
      todo: `Run \`chmod 600 ${file}\`.`,
    })
    chmodSync(file, 0o600)
  })

  test('a key that only this machine has is a warning where several processes may share the database', async () => {
    const shared = { PACELINE_POSTGRES_URL: 'postgres://127.0.0.1/x' }
    assert.equal((await find('secrets', shared)).level, 'warning')
    assert.equal((await find('secrets', { ...shared, PACELINE_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') })).level, 'ok')
  })

  test('every variable that is given is explained, and its value is not shown', async () => {
    const given = {
      PACELINE_ADMIN_TOKEN: 'an-admin-token-of-forty-characters-or-so',
      PACELINE_PORT: '8123',
      STRAVA_CLIENT_ID: '4711',
      STRAVA_CLIENT_SECRET: 'hush',
    }
    const patient = { folder: folder.path, database: undefined, redis: undefined, nats: undefined }
    const findings = await diagnose(readConfig({ ...given, PACELINE_HOST: ' ', HOME: '/home' }), patient)
    assert.deepEqual(
      findings.filter(({ check }) => /^[A-Z_]+$/.test(check)),
      [
        {
          check: 'PACELINE_PORT',
          level: 'ok',
          sentence: 'The port on which the API and the dashboard listen; 0 takes any free one.',
        },
        { check: 'PACELINE_ADMIN_TOKEN', level: 'ok', sentence: 'The bearer token of `/admin/*`.' },
        { check: 'STRAVA_CLIENT_ID', level: 'ok', sentence: 'The client id of your Strava application.' },
        { check: 'STRAVA_CLIENT_SECRET', level: 'ok', sentence: 'The secret that belongs to the client id.' },
      ],
    )
    const all = JSON.stringify(findings)
    for (const secret of [given.PACELINE_ADMIN_TOKEN, given.STRAVA_CLIENT_ID, given.STRAVA_CLIENT_SECRET])
      assert(!all.includes(secret))
  })

  test('an application that Strava has switched off is an error that says what to do; nothing else is', async () => {
    const inactive = { vendor: 'strava', cause: 'inactive' } as const
    assert.deepEqual(await find('strava application', {}, { gates: () => Promise.resolve([inactive]) }), {
      check: 'strava application',
      level: 'error',
      sentence: 'Strava has switched this application off: its owner needs a subscription.',
      todo: 'Renew the subscription of the Strava account that owns the application; then everything goes on by itself.',
    })
    const others = [() => Promise.resolve([{ ...inactive, cause: 'limit' }]), () => Promise.reject(new Error('away'))]
    for (const gates of others) await assert.rejects(find('strava application', {}, { gates }), /nothing is said/)
  })

  test('missing credentials name their variables, and plain http in the open is a warning', async () => {
    assert.match((await find('whoop')).todo ?? '', /WHOOP_CLIENT_ID and WHOOP_CLIENT_SECRET/)
    assert.equal((await find('whoop', { WHOOP_CLIENT_ID: 'a', WHOOP_CLIENT_SECRET: 'b' })).level, 'ok')
    assert.equal((await find('public url', { PACELINE_HOST: '0.0.0.0' })).level, 'warning')
    assert.equal(
      (await find('public url', { PACELINE_HOST: '0.0.0.0', PACELINE_PUBLIC_URL: 'https://pace.example' })).level,
      'ok',
    )
  })
})
