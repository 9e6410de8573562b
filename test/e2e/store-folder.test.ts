// What the embedded store promises about its folder: one process, on the disk, there again after kill -9.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openPglite } from '../../src/db/db.ts'
import { startProgram } from '../programs/child.ts'
import { killRounds } from '../programs/kill-rounds.ts'
import { makeFolder, openMemory, prepareFolder, testFolder } from '../stores.ts'

describe('the embedded store on disk', () => {
  const folder = testFolder()
  before(async () => {
    await prepareFolder(folder.path)
  })
  after(() => {
    folder.remove()
  })

  test('every commit is synced to the disk before it is acknowledged', async () => {
    const db = await openPglite({ folder: folder.path })
    assert(db.syncs)
    await db.query('create table synced (n integer)')
    const before = db.syncs()
    for (let n = 0; n < 50; n++) await db.query('insert into synced values ($1)', [n])
    const made = db.syncs() - before
    await db.close()
    assert(made >= 50, `50 commits made ${made} syncs`)
  })

  test('after kill -9 the store opens and every acknowledged row is there', async t => {
    const { acknowledged, missing } = await killRounds(folder.path, 4)
    t.diagnostic(`${acknowledged} rows acknowledged over 4 kills`)
    assert(acknowledged >= 200)
    assert.deepEqual(missing, [])
  })

  test('a second process is refused, and told who has the folder', async () => {
    const first = startProgram('writer', folder.path)
    assert.equal(await first.line(), 'open')
    const refused = openPglite({ folder: folder.path })
    await assert.rejects(refused, { code: 'PACE_STORE_LOCKED', message: new RegExp(`process with id ${first.pid};`) })
    await first.kill()
    await (await openPglite({ folder: folder.path })).close()
  })

  test('a second opener in the same process is refused too', async () => {
    const db = await openPglite({ folder: folder.path })
    await assert.rejects(openPglite({ folder: folder.path }), { code: 'PACE_STORE_LOCKED' })
    await db.close()
  })

  test('a folder that the store makes is for its owner only', async () => {
    const inner = testFolder()
    const made = join(inner.path, 'a', 'b')
    await makeFolder(made)
    assert.deepEqual([statSync(join(inner.path, 'a')).mode & 0o777, statSync(made).mode & 0o777], [0o700, 0o700])
    inner.remove()
  })

  test('a folder that was there and open to all is closed to others', async () => {
    const inner = testFolder()
    mkdirSync(join(inner.path, 'data', 'store'), { recursive: true, mode: 0o755 })
    await makeFolder(join(inner.path, 'data'))
    const modes = ['data', 'data/store'].map(name => statSync(join(inner.path, name)).mode & 0o777)
    assert.deepEqual(modes, [0o700, 0o700])
    inner.remove()
  })

  test('a folder that holds something else is told, not overwritten', async () => {
    const other = testFolder()
    mkdirSync(join(other.path, 'store'))
    writeFileSync(join(other.path, 'store', 'PG_VERSION'), '9.6\n')
    await assert.rejects(openPglite({ folder: other.path }), { code: 'PACE_STORE_BROKEN', message: /does not open/ })
    other.remove()
  })
})

test('the event loop turns at least once for every query', async () => {
  const db = await openMemory()
  let turns = 0
  let counting = true
  const count = (): void => {
    turns += 1
    if (counting) setImmediate(count)
  }
  setImmediate(count)
  for (let n = 0; n < 300; n++) await db.query('select 1')
  counting = false
  await db.close()
  assert(turns >= 300, `300 queries let the loop turn ${turns} times`)
})
