import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { openMigrated } from '../../test/stores.ts'
import { until } from '../../test/waiting.ts'
import type { Database } from '../db/db.ts'
import { SystemClock } from '../kernel/clock.ts'
import { idMaker } from '../kernel/ids.ts'
import { secure } from '../kernel/random.ts'
import { streamsOf, type Bus } from './bus.ts'
import { RowBus } from './bus-rows.ts'
import { Consumer, type Held, type Verdict } from './consumer.ts'

const SUBJECT = 'athlete-ally.test.pullers'
const BATCH = 10
const clock = new SystemClock()

describe('a consumer of two pullers', () => {
  let database: Database
  let bus: Bus
  let consumer: Consumer
  const held: (readonly Held[])[] = []
  const letGo: (() => void)[] = []
  let isHolding = true
  before(async () => {
    database = await openMigrated()
    bus = new RowBus({ database, clock, streams: streamsOf(7) })
    consumer = new Consumer(
      { bus, clock, newId: idMaker(clock, secure()), keep: () => assert.fail('nothing dies here') },
      {
        name: 'test',
        durable: { name: 'pullers-durable', subject: SUBJECT, ackWaitMs: 60_000 },
        pullers: 2,
        letters: 'dlq.test',
        span: 'test.consume',
        handle: async batch => {
          held.push(batch)
          if (isHolding) await new Promise<void>(resolve => letGo.push(resolve))
          return batch.map((): Verdict => ({ verdict: 'done' }))
        },
        ready: async () => undefined,
      },
    )
    await consumer.service.start()
  })
  after(async () => {
    for (const go of letGo) go()
    await consumer.service.stop()
    await bus.close()
    await database.close()
  })

  const publish = async (from: number, count: number): Promise<void> => {
    await bus.publish(
      Array.from({ length: count }, (_, n) => ({ subject: SUBJECT, id: `m-${from + n}`, data: Buffer.from('x') })),
    )
  }
  const idsOf = (batches: readonly (readonly Held[])[]): string[] => batches.flat().map(({ delivery }) => delivery.id)

  test('has two batches in hand at once, and no message twice', async () => {
    await publish(0, 3 * BATCH)
    await until(() => held.length === 2)
    assert.equal(new Set(idsOf(held)).size, 2 * BATCH)
  })

  test('goes on with one puller while the other hangs, and is silent for as long as that one', async () => {
    isHolding = false
    letGo.shift()?.()
    await until(() => held.length === 3)
    await publish(3 * BATCH, 1)
    await until(() => held.length === 4)
    const silentMs = consumer.silentMs()
    await clock.sleep(50)
    await publish(3 * BATCH + 1, 1)
    await until(() => held.length === 5)
    assert(consumer.silentMs() >= silentMs + 50)
  })

  test('ends all of them once each, and has none left', async () => {
    letGo.shift()?.()
    await until(async () => (await consumer.gauges()).some(({ name, value }) => name === 'paceline_consumer_lag' && value === 0))
    assert.equal(new Set(idsOf(held)).size, 3 * BATCH + 2)
    assert.equal(idsOf(held).length, 3 * BATCH + 2)
  })
})
