// A process that dies while it answers a ring: the ring comes again to whoever runs next.
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { RowBell } from '../../src/bell/bell.ts'
import type { Database } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { startProgram } from '../programs/child.ts'

export function killedRingContract(name: string, store: () => Promise<{ address: string; open: () => Promise<Database> }>): void {
  test(`bell: ${name}: a ring whose process was killed comes again`, async () => {
    const { address, open } = await store()
    const ringer = startProgram('ringer', address)
    assert.equal(await ringer.line(), 'someone')
    await ringer.kill()
    const database = await open()
    const bell = new RowBell(database, new SystemClock())
    const answered = new Promise<string>(resolve => {
      bell.answer('door', key => Promise.resolve(resolve(key)))
    })
    await bell.service.start()
    assert.equal(await answered, 'someone')
    await bell.service.stop()
    await database.close()
  })
}
