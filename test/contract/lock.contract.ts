// The laws of the Lock port, for every adapter.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Lock } from '../../src/streams/streams.ts'
import { until } from '../waiting.ts'

export interface LockRig {
  /** The lock as two processes have it. */
  readonly locks: readonly [Lock, Lock]
  /** An athlete whose lock nobody has taken yet. */
  athlete(): Promise<string>
  /** Lets time pass, where it does not by itself. */
  pass(ms: number): void
  close(): Promise<void>
}

const LONG_MS = 60_000
const SHORT_MS = 50

export function lockContract(name: string, open: () => Promise<LockRig>): void {
  describe(`the lock: ${name}`, () => {
    let rig: LockRig
    before(async () => {
      rig = await open()
    })
    after(async () => {
      await rig.close()
    })

    test('of many who take it at once, one has it', async () => {
      const [one, other] = rig.locks
      const athlete = await rig.athlete()
      const owners = Array.from({ length: 20 }, (_, at) => `owner ${at}`)
      const taken = await Promise.all(owners.map((owner, at) => (at % 2 ? one : other).take(athlete, owner, LONG_MS)))
      assert.equal(taken.filter(Boolean).length, 1)
    })

    test('its owner takes it again; another athlete’s is another lock', async () => {
      const [one, other] = rig.locks
      const [athlete, another] = [await rig.athlete(), await rig.athlete()]
      assert(await one.take(athlete, 'ada', LONG_MS))
      assert(await other.take(athlete, 'ada', LONG_MS))
      assert(!(await other.take(athlete, 'bo', LONG_MS)))
      assert(await other.take(another, 'bo', LONG_MS))
    })

    test('released, it is free', async () => {
      const [one, other] = rig.locks
      const athlete = await rig.athlete()
      assert(await one.take(athlete, 'ada', LONG_MS))
      assert(await one.release(athlete, 'ada'))
      assert(!(await one.release(athlete, 'ada')))
      assert(await other.take(athlete, 'bo', LONG_MS))
    })

    test('it ends by itself, and who had it cannot take it from the next', async () => {
      const [one, other] = rig.locks
      const athlete = await rig.athlete()
      assert(await one.take(athlete, 'ada', SHORT_MS))
      rig.pass(SHORT_MS)
      await until(() => other.take(athlete, 'bo', LONG_MS))
      assert(!(await one.release(athlete, 'ada')))
      assert(!(await one.take(athlete, 'ada', LONG_MS)))
      assert(await other.release(athlete, 'bo'))
    })

    test('taken again, it is the owner’s for the whole time anew', async () => {
      const [one, other] = rig.locks
      const athlete = await rig.athlete()
      assert(await one.take(athlete, 'ada', SHORT_MS))
      assert(await one.take(athlete, 'ada', LONG_MS))
      rig.pass(SHORT_MS)
      assert(!(await other.take(athlete, 'bo', LONG_MS)))
    })
  })
}
