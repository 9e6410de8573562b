import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Database } from '../db/db.ts'
import { VirtualClock } from '../kernel/clock.ts'
import { HOUR_MS } from '../kernel/durations.ts'
import { idMaker } from '../kernel/ids.ts'
import { seeded } from '../kernel/random.ts'
import { openMigrated } from '../../test/stores.ts'
import { sleepEraser } from './eraser.ts'
import { SleepIngest } from './ingest.ts'
import type { Night } from './nights.ts'

const at = (hour: number): string => new Date(Date.UTC(2026, 2, 10) + hour * HOUR_MS).toISOString()
const ATHLETE = '00000000-0000-7000-8000-000000000001'

const night = (more: Partial<Night> = {}): Night => ({
  date: '2026-03-10',
  durationMinutes: 420,
  capturedAt: at(8),
  raw: { source: 'whoop', externalId: 'w1', qualityScore: 80 },
  ...more,
})

describe('what the ingest hands on', () => {
  const clock = new VirtualClock(Date.UTC(2026, 2, 11))
  const ingest = new SleepIngest({ clock, newId: idMaker(clock, seeded(1)) })
  let database: Database
  before(async () => {
    database = await openMigrated()
    await database.query(`insert into athlete (id, name, created_at) values ($1, 'Ada', $2)`, [ATHLETE, new Date(clock.now())])
  })
  after(() => database.close())

  const receive = async (...nights: Night[]): Promise<number> =>
    await database.transaction(tx => ingest.receive(tx, ATHLETE, nights))
  const erase = async (before?: Date): Promise<void> => {
    const step = { athleteId: ATHLETE, vendor: 'whoop', now: new Date(clock.now()), ...(before && { before }) }
    await database.transaction(tx => sleepEraser.erase(tx, step, 1_000))
  }
  const durations = async (): Promise<number[]> => {
    const rows = await database.query<{ minutes: number }>(
      `delete from outbox returning (payload #>> '{payload,durationMinutes}')::integer as minutes`,
    )
    return rows.map(({ minutes }) => minutes)
  }

  test('a night that says the same is handed on once, whenever it is heard', async () => {
    assert.equal(await receive(night()), 1)
    assert.equal(await receive(night(), night({ capturedAt: at(20) })), 0)
    assert.deepEqual(await durations(), [420])
  })

  test('of several words about a night the later counts, also when the earlier comes last', async () => {
    assert.equal(
      await receive(night({ durationMinutes: 400, capturedAt: at(10) }), night({ durationMinutes: 1, capturedAt: at(9) })),
      1,
    )
    assert.equal(await receive(night({ durationMinutes: 2, capturedAt: at(9) })), 0)
    assert.equal(await receive(night({ durationMinutes: 410, capturedAt: at(10) })), 1)
    assert.deepEqual(await durations(), [400, 410])
  })

  test('another vendor’s word about the same night is another one', async () => {
    assert.equal(await receive(night({ raw: { source: 'oura', externalId: 'o1' } })), 1)
    assert.equal(await receive(), 0)
    assert.deepEqual(await durations(), [420])
  })

  test('what was erased is forgotten: all of a vendor, or what is too old', async () => {
    await erase()
    const both = [night({ date: '2026-03-09' }), night()]
    assert.equal(await receive(...both), 2)
    await erase(new Date(at(0)))
    assert.equal(await receive(...both), 1)
    assert.equal(await receive(night({ raw: { source: 'oura', externalId: 'o1' } })), 0)
  })

  test('with the caller’s transaction nothing was heard', async () => {
    await durations()
    const failing = database.transaction(async tx => {
      await ingest.receive(tx, ATHLETE, [night({ date: '2026-03-11' })])
      throw new Error('not now')
    })
    await assert.rejects(failing, /not now/)
    assert.deepEqual(await durations(), [])
    assert.equal(await receive(night({ date: '2026-03-11' })), 1)
  })
})
