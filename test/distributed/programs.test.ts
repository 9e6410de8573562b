// What a person reads on a machine without the servers, and what counts as having them.
import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { provideServers } from '../../scripts/servers.ts'
import { findFolder, missingPrograms } from '../servers/programs.ts'

const nowhere = { environment: { PATH: '' }, folders: [] }

test('a person who is not root reads exactly what to install or which variable to set', async () => {
  const provision = await provideServers(() => nowhere, false)
  assert.deepEqual(provision, {
    outcome: 'missing',
    sentences: [
      'PostgreSQL 15 or newer is missing: install it, so that postgres and initdb can be found in PATH (Debian: apt-get install postgresql), or set PACELINE_TEST_POSTGRES_URL to the postgres:// address of a running one, as a user who may create databases.',
      'Redis is missing: install it, so that redis-server can be found in PATH (Debian: apt-get install redis-server), or set PACELINE_TEST_REDIS_URL to the redis:// address of a running one.',
      'NATS server is missing: install it, so that nats-server can be found in PATH (Debian: apt-get install nats-server), or set PACELINE_TEST_NATS_URL to the nats:// address of a running one with JetStream.',
      'Chromium is missing: install it, so that chromium can be found in PATH (Debian: apt-get install chromium), or set PACELINE_TEST_CHROMIUM to the path of its executable (Chrome will do).',
    ],
  })
})

test('a variable that names a running server does for the program', () => {
  const environment = { PATH: '', PACELINE_TEST_REDIS_URL: 'redis://127.0.0.1:1', PACELINE_TEST_CHROMIUM: '/opt/chrome' }
  assert.deepEqual(missingPrograms({ environment, folders: [] }), ['postgres', 'nats'])
})

test('a PostgreSQL that is too old, or has no initdb beside it, is passed over', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'paceline-programs-'))
  try {
    await program(folder, 'postgres', 'postgres (PostgreSQL) 15.13')
    assert.equal(findFolder('postgres', { environment: { PATH: folder }, folders: [] }), undefined)
    await program(folder, 'initdb', 'initdb (PostgreSQL) 15.13')
    assert.equal(findFolder('postgres', { environment: { PATH: folder }, folders: [] }), folder)
    await program(folder, 'postgres', 'postgres (PostgreSQL) 13.9')
    assert.equal(findFolder('postgres', { environment: { PATH: '' }, folders: [folder] }), undefined)
  } finally {
    await rm(folder, { recursive: true })
  }
})

async function program(folder: string, name: string, version: string): Promise<void> {
  await writeFile(join(folder, name), `#!/bin/sh\necho '${version}'\n`)
  await chmod(join(folder, name), 0o755)
}
