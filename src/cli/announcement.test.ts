import { afterEach, beforeEach, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { testFolder, type TestFolder } from '../../test/stores.ts'
import { announce, announcedIn, SERVER_FILE } from './announcement.ts'

const URL = 'http://127.0.0.1:1'

describe('the announcement of a running server', () => {
  let folder: TestFolder
  let file = ''
  beforeEach(() => {
    folder = testFolder()
    file = join(folder.path, SERVER_FILE)
  })
  afterEach(() => {
    folder.remove()
  })

  test('is found while it holds, by its owner only, and leaves nothing behind', () => {
    assert.equal(announcedIn(folder.path), undefined)
    const withdraw = announce(folder.path, URL)
    assert.equal(announcedIn(folder.path), URL)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    withdraw()
    assert.equal(announcedIn(folder.path), undefined)
    assert.deepEqual(readdirSync(folder.path), [])
  })

  test('is never seen half written: it replaces the one before as a whole', () => {
    announce(folder.path, URL)
    const { ino } = statSync(file)
    announce(folder.path, URL)
    assert.notEqual(statSync(file).ino, ino)
  })

  test('is only withdrawn by the server that made it', () => {
    const withdraw = announce(folder.path, URL)
    const others = JSON.stringify({ pid: process.ppid, url: URL })
    writeFileSync(file, others)
    withdraw()
    assert.equal(readFileSync(file, 'utf8'), others)
  })

  test('of a process that has ended, or damaged, is none', () => {
    const { pid } = spawnSync(process.execPath, ['--version'])
    const wrong = [
      { pid, url: URL },
      { pid: 0, url: URL },
      { pid: -1, url: URL },
      { pid: '1', url: URL },
      { pid: process.pid },
      {},
      null,
    ]
    for (const text of ['', '{"pid":1', ...wrong.map(value => JSON.stringify(value))]) {
      writeFileSync(file, text)
      assert.equal(announcedIn(folder.path), undefined, text)
      assert(existsSync(file))
    }
  })

  test("of another user's process counts: that it may not be signalled proves that it lives", t => {
    announce(folder.path, URL)
    // As root, which tests may run as, every process may be signalled.
    t.mock.method(process, 'kill', () => {
      throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' })
    })
    assert.equal(announcedIn(folder.path), URL)
  })
})
