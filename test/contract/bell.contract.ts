// The laws of the Bell port, run against every adapter.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { cron, type Bell } from '../../src/bell/bell.ts'
import type { Clock } from '../../src/kernel/clock.ts'

export interface BellUnderTest {
  readonly clock: Clock
  /** A bell over the same store: another process's, as far as the port can tell. */
  open(): Bell
  /** Awaits something that time must pass for. */
  run<T>(work: Promise<T>): Promise<T>
  close(): Promise<void>
}

/** `concurrency`: how many laws are tried at once. They mostly wait; but a virtual clock has one time for all. */
export function bellContract(name: string, make: () => Promise<BellUnderTest>, concurrency = 8): void {
  describe(`bell: ${name}`, { concurrency }, () => {
    let under: BellUnderTest
    let count = 0
    before(async () => {
      under = await make()
    })
    after(async () => {
      await under.close()
    })

    /** A started bell that writes down what it heard; `fails` makes its first answers fail. */
    const listening = async (
      fails = 0,
    ): Promise<{ bell: Bell; name: string; heard: { key: string; at: number }[]; next: (n: number) => Promise<void> }> => {
      const bell = under.open()
      const name = `bell-${++count}`
      const heard: { key: string; at: number }[] = []
      bell.answer(name, key => {
        heard.push({ key, at: under.clock.now() })
        return heard.length <= fails ? Promise.reject(new Error('not now')) : Promise.resolve()
      })
      await under.run(bell.service.start())
      const next = async (n: number): Promise<void> => {
        const wait = async (): Promise<void> => {
          while (heard.length < n) await under.clock.sleep(20)
        }
        await under.run(wait())
      }
      return { bell, name, heard, next }
    }
    const pause = async (ms: number): Promise<void> => {
      await under.run(under.clock.sleep(ms))
    }
    const stop = async (bell: Bell): Promise<void> => {
      await under.run(bell.service.stop())
    }

    test('a ring comes, and not before its time', async () => {
      const { bell, name, heard, next } = await listening()
      const at = under.clock.now() + 700
      await bell.ring(name, 'a', at)
      await next(1)
      assert.equal(heard[0]?.key, 'a')
      assert((heard[0]?.at ?? 0) >= at, `rang ${at - (heard[0]?.at ?? 0)} ms early`)
      await stop(bell)
    })

    test('rings of one key that wait together are one ring', async () => {
      const { bell, name, heard, next } = await listening()
      const later = under.clock.now() + 3_600_000
      await Promise.all(Array.from({ length: 20 }, (_, n) => bell.ring(name, 'a', later + n)))
      await bell.ring(name, 'a', under.clock.now())
      await next(1)
      await pause(1_500)
      assert.deepEqual(
        heard.map(ring => ring.key),
        ['a'],
      )
      await stop(bell)
    })

    test('an earlier time moves the ring, a later one does not', async () => {
      const { bell, name, heard, next } = await listening()
      const soon = under.clock.now() + 500
      await bell.ring(name, 'a', under.clock.now() + 3_600_000)
      await bell.ring(name, 'a', soon)
      await bell.ring(name, 'a', under.clock.now() + 7_200_000)
      await next(1)
      assert((heard[0]?.at ?? 0) < soon + 3_000_000)
      await stop(bell)
    })

    test('keys do not wait for one another', async () => {
      const { bell, name, heard, next } = await listening()
      await Promise.all(['a', 'b', 'c'].map(key => bell.ring(name, key, under.clock.now())))
      await next(3)
      assert.deepEqual(heard.map(ring => ring.key).toSorted(), ['a', 'b', 'c'])
      await stop(bell)
    })

    test('a ring whose answer failed comes again', async () => {
      const { bell, name, heard, next } = await listening(2)
      await bell.ring(name, 'a', under.clock.now())
      await next(3)
      assert.deepEqual(
        heard.map(ring => ring.key),
        ['a', 'a', 'a'],
      )
      await stop(bell)
    })

    test('a ring that comes while its key is being answered is kept', async () => {
      const bell = under.open()
      const name = `bell-${++count}`
      let answers = 0
      bell.answer(name, async key => {
        answers += 1
        if (answers > 1) return
        await bell.ring(name, key, under.clock.now())
        await under.clock.sleep(300)
      })
      await under.run(bell.service.start())
      await bell.ring(name, 'a', under.clock.now())
      const twice = async (): Promise<void> => {
        while (answers < 2) await under.clock.sleep(20)
      }
      await under.run(twice())
      await stop(bell)
      assert.equal(answers, 2)
    })

    test('a ring that is hours away holds up neither the others nor the stop', async () => {
      const { bell, name, heard, next } = await listening()
      await bell.ring(name, 'early', under.clock.now() + 7_200_000)
      await bell.ring(name, 'due', under.clock.now())
      await next(1)
      await pause(1_500)
      await stop(bell)
      assert.deepEqual(
        heard.map(ring => ring.key),
        ['due'],
      )
    })

    test('a schedule rings at each of its times', async () => {
      const bell = under.open()
      const rangAt: number[] = []
      const start = cron(bell, under.clock, `cron-${++count}`, {
        expression: '* * * * * *',
        work: () => {
          rangAt.push(under.clock.now())
          return rangAt.length === 1 ? Promise.reject(new Error('a failing run')) : Promise.resolve()
        },
      })
      await under.run(bell.service.start())
      await start()
      const thrice = async (): Promise<void> => {
        while (new Set(rangAt.map(at => Math.floor(at / 1000))).size < 3) await under.clock.sleep(20)
      }
      await under.run(thrice())
      await stop(bell)
    })

    test('a stopped bell answers nothing, and starts again', async () => {
      const { bell, name, heard, next } = await listening()
      await stop(bell)
      await pause(200)
      assert.equal(heard.length, 0)
      await under.run(bell.service.start())
      await bell.ring(name, 'a', under.clock.now())
      await next(1)
      await stop(bell)
    })
  })
}
