import { test } from 'node:test'
import assert from 'node:assert/strict'
import fs, { existsSync, fstatSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { secure, seeded } from '../kernel/random.ts'
import { testFolder } from '../../test/stores.ts'
import { openSecrets, SECRETS_FILE } from './secrets.ts'

test('secrets are made once, for their owner only, and found again', () => {
  const folder = testFolder()
  const data = join(folder.path, 'new')
  const first = openSecrets(data, {}, secure())
  assert.deepEqual(openSecrets(data, {}, secure()), first)
  assert.equal(first.keys[0]?.length, 32)
  assert.notEqual(first.adminToken, first.ingestToken)
  assert.equal(statSync(join(data, SECRETS_FILE)).mode & 0o777, 0o600)
  assert.equal(statSync(data).mode & 0o777, 0o700)
  assert.deepEqual(readdirSync(data), [SECRETS_FILE])
  folder.remove()
})

test('what the operator gave is used instead', () => {
  const folder = testFolder()
  const given = {
    secretKeys: [Buffer.alloc(32, 1), Buffer.alloc(32, 2)],
    adminToken: 'given-admin-token',
    ingestToken: 'given-ingest',
  }
  assert.deepEqual(openSecrets(folder.path, given, secure()), {
    keys: given.secretKeys,
    adminToken: 'given-admin-token',
    ingestToken: 'given-ingest',
  })
  folder.remove()
})

test('of two that make secrets at the same time, both use those of the first', () => {
  const folder = testFolder()
  // The second one's chance is asked after it saw no file, and lets the first one finish in between.
  let first: unknown
  const inner = seeded(2)
  const slow = {
    next: () => inner.next(),
    bytes: (count: number) => {
      first ??= openSecrets(folder.path, {}, secure())
      return inner.bytes(count)
    },
  }
  assert.deepEqual(openSecrets(folder.path, {}, slow), first)
  folder.remove()
})

test('a secrets file that is damaged is told, and not replaced', () => {
  const folder = testFolder()
  const file = join(folder.path, SECRETS_FILE)
  const whole = { secretKey: 'a', adminToken: 'b', ingestToken: 'c' }
  const damaged = [null, {}, 7, { ...whole, secretKey: undefined }, { ...whole, adminToken: '' }, { ...whole, ingestToken: 1 }]
  for (const text of ['', '{"adminTok', ...damaged.map(value => JSON.stringify(value))]) {
    writeFileSync(file, text)
    const message = new RegExp(`^The generated secrets in ${file} cannot be read: `)
    assert.throws(() => openSecrets(folder.path, {}, secure()), { code: 'PACE_CONFIG', message }, text)
    assert.equal(fs.readFileSync(file, 'utf8'), text)
  }
  folder.remove()
})

test('made secrets, and their name in the folder, are on the disk before they are used', t => {
  const folder = testFolder()
  const { fsyncSync } = fs
  const synced: string[] = []
  t.mock.method(fs, 'fsyncSync', (handle: number) => {
    fsyncSync(handle)
    if (fstatSync(handle).isDirectory() && existsSync(join(folder.path, SECRETS_FILE))) synced.push('folder')
  })
  syncBuiltinESMExports()
  openSecrets(folder.path, {}, secure())
  t.mock.restoreAll()
  syncBuiltinESMExports()
  assert.deepEqual(synced, ['folder'])
  folder.remove()
})
