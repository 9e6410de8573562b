// The laws of the Bus port, the same on every adapter.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import type { Bus, Delivery, Message, Subscription } from '../../src/events/events.ts'
import { until } from '../waiting.ts'

export interface BusRig {
  readonly name: string
  /** One process's. They share what is stored. */
  open(): Promise<Bus>
  close(): Promise<void>
}

/** Longer than a busy machine takes between two lines of a test. */
const ACK_WAIT_MS = 60_000
/** Where a test waits for its end. */
const SHORT_ACK_WAIT_MS = 3_000
const never = new AbortController().signal

export function busContract(openRig: () => Promise<BusRig>, name: string): void {
  describe(`the bus: ${name}`, () => {
    let rig: BusRig
    let bus: Bus
    before(async () => {
      rig = await openRig()
      bus = await rig.open()
    })
    after(async () => {
      await bus.close()
      await rig.close()
    })
    /** A subject of a test's own. */
    const newSubject = (): string => `athlete-ally.test.${randomUUID()}`
    const subscribe = async (subject: string, name: string = randomUUID(), ackWaitMs = ACK_WAIT_MS): Promise<Subscription> =>
      await bus.subscribe({ name, subject, ackWaitMs })
    const message = (subject: string, text: string, more: Partial<Message> = {}): Message => ({
      subject,
      id: randomUUID(),
      data: Buffer.from(text),
      ...more,
    })
    const publish = async (...messages: Message[]): Promise<void> => {
      assert.deepEqual(
        (await bus.publish(messages)).map(({ outcome }) => outcome),
        messages.map(() => 'stored'),
      )
    }
    const texts = (deliveries: readonly Delivery[]): string[] => deliveries.map(({ data }) => data.toString())
    /** Pulls until something comes. */
    const next = async (subscription: Subscription, most = 10): Promise<readonly Delivery[]> => {
      let found: readonly Delivery[] = []
      await until(async () => (found = await subscription.pull(most, never)).length > 0)
      return found
    }

    test('a message arrives as it was sent: bytes, headers, id, time', async () => {
      const subject = newSubject()
      const subscription = await subscribe(subject)
      const data = Buffer.from([0, 255, 10, 13, 0, 128])
      const sentAt = Date.now()
      await publish({ subject, id: 'one of a kind', data, headers: { traceparent: '00-a-b-01', Word: 'Ä\t1' } })
      const [delivery] = await next(subscription)
      assert(delivery)
      assert.deepEqual(delivery.data, data)
      assert.equal(delivery.subject, subject)
      assert.equal(delivery.id, 'one of a kind')
      assert.equal(delivery.headers['traceparent'], '00-a-b-01')
      assert.equal(delivery.headers['Word'], 'Ä\t1')
      assert.equal(delivery.attempt, 1)
      assert(Math.abs(delivery.publishedAt - sentAt) < 60_000)
      await subscription.ack([delivery])
    })

    test('a batch has what is there and waits for no more', async () => {
      const subject = newSubject()
      const subscription = await subscribe(subject)
      await publish(...['1', '2', '3'].map(text => message(subject, text)))
      assert.deepEqual(texts(await next(subscription)), ['1', '2', '3'])
    })

    test('no more than was asked for, the rest at the next pull, in order', async () => {
      const subject = newSubject()
      const subscription = await subscribe(subject)
      await publish(...Array.from({ length: 7 }, (_, n) => message(subject, `${n}`, { order: 'ada' })))
      const found = [await next(subscription, 3), await next(subscription, 3), await next(subscription, 3)]
      assert.deepEqual(found.map(texts), [['0', '1', '2'], ['3', '4', '5'], ['6']])
    })

    test('a pull ends with what comes while it waits, and with nothing when it is aborted', async () => {
      const subject = newSubject()
      const subscription = await subscribe(subject)
      const pulling = subscription.pull(10, never)
      await publish(message(subject, 'late'))
      assert.deepEqual(texts(await pulling), ['late'])
      const stop = new AbortController()
      const stopped = subscription.pull(10, stop.signal)
      stop.abort()
      assert.deepEqual(await stopped, [])
    })

    test('what is acknowledged or ended never comes again, what is given back comes again and is counted', async () => {
      const subject = newSubject()
      const subscription = await subscribe(subject)
      await publish(...['done', 'ended', 'back'].map(text => message(subject, text)))
      const [done, ended, back] = await next(subscription)
      assert(done && ended && back)
      await subscription.ack([done])
      await subscription.drop([ended])
      await subscription.nak([back], 100)
      const again = await next(subscription)
      assert.deepEqual(texts(again), ['back'])
      assert.deepEqual(
        again.map(({ attempt, seq, id }) => [attempt, seq, id]),
        [[2, back.seq, back.id]],
      )
      await subscription.ack(again)
      assert.equal(await lagOf(subscription, 0), 0)
    })

    test('what nobody answers for comes again; who says that they work at it keeps it', async () => {
      const subject = newSubject()
      const subscription = await subscribe(subject, randomUUID(), SHORT_ACK_WAIT_MS)
      await publish(message(subject, 'held'), message(subject, 'lost'))
      const [held, lost] = await next(subscription)
      assert(held && lost)
      const beat = setInterval(() => void subscription.working([held]), SHORT_ACK_WAIT_MS / 10)
      const again = await next(subscription)
      clearInterval(beat)
      assert.deepEqual(
        again.map(({ id, attempt }) => [id, attempt]),
        [[lost.id, 2]],
      )
      await subscription.ack([held, ...again])
      assert.equal(await lagOf(subscription, 0), 0)
    })

    test('the same id is the same message', async () => {
      const subject = newSubject()
      const subscription = await subscribe(subject)
      const once = message(subject, 'once')
      await publish(once, once)
      await publish(once, message(subject, 'another'))
      assert.deepEqual(texts(await next(subscription)).toSorted(), ['another', 'once'])
    })

    test('each durable hears everything, also what was there before it; two who pull for one share it', async () => {
      const subject = newSubject()
      await publish(message(subject, 'before'))
      const [one, other] = [await subscribe(subject), await subscribe(subject)]
      await publish(message(subject, 'after'))
      assert.deepEqual(texts(await drained(one, 2)), ['before', 'after'])
      const shared = randomUUID()
      const second = await rig.open()
      const pair = [
        await subscribe(subject, shared),
        await second.subscribe({ name: shared, subject, ackWaitMs: ACK_WAIT_MS }),
      ] as const
      const [first] = await next(pair[0], 1)
      assert(first)
      assert.deepEqual(texts([first, ...(await next(pair[1]))]).toSorted(), ['after', 'before'])
      assert.deepEqual(texts(await drained(other, 2)), ['before', 'after'])
      for (const subscription of pair) subscription.close()
      await second.close()
    })

    test('a durable goes on where it was, also in another process', async () => {
      const subject = newSubject()
      const durable = randomUUID()
      const first = await subscribe(subject, durable)
      await publish(message(subject, 'done'))
      await first.ack(await next(first))
      first.close()
      await publish(message(subject, 'meanwhile'))
      const second = await rig.open()
      const again = await second.subscribe({ name: durable, subject, ackWaitMs: ACK_WAIT_MS })
      assert.deepEqual(texts(await next(again)), ['meanwhile'])
      await second.close()
    })

    test('a wildcard hears everything below it', async () => {
      const subject = `dlq.test.${randomUUID()}`
      const subscription = await subscribe(`${subject}.>`)
      await publish(message(`${subject}.a`, 'a'), message(`${subject}.b.c`, 'c'))
      await publish(message(`dlq.test.${randomUUID()}.a`, 'no'))
      const found = await drained(subscription, 2)
      assert.deepEqual(texts(found).toSorted(), ['a', 'c'])
      assert.deepEqual([...new Set(found.map(({ stream }) => stream))], ['AA_DLQ'])
    })

    test('what the bus does not take is refused with a reason and holds up only its own order', async () => {
      const subject = newSubject()
      const subscription = await subscribe(subject)
      const outcomes = await bus.publish([
        message(subject, 'first', { order: 'ada' }),
        // A header that no bus can carry.
        message(subject, 'bad', { order: 'ada', headers: { 'Bad\u0000': 'a\r\nb\u0000' } }),
        message(subject, 'after', { order: 'ada' }),
        message(subject, 'other', { order: 'bob' }),
      ])
      assert.deepEqual(
        outcomes.map(({ outcome }) => outcome),
        ['stored', 'refused', 'unsent', 'stored'],
      )
      assert(outcomes[1]?.outcome === 'refused' && outcomes[1].reason !== '')
      assert.deepEqual(texts(await drained(subscription, 2)).toSorted(), ['first', 'other'])
    })

    test('a message that is removed is not there; removing it again does no harm', async () => {
      const subject = `dlq.test.${randomUUID()}`
      const subscription = await subscribe(subject)
      await publish(message(subject, 'gone'), message(subject, 'stays'))
      const [gone, stays] = await next(subscription)
      assert(gone && stays)
      await bus.remove('AA_DLQ', [{ seq: stays.seq, id: gone.id }])
      await bus.remove('AA_DLQ', [gone])
      await bus.remove('AA_DLQ', [gone])
      assert.deepEqual(texts(await next(await subscribe(subject))), ['stays'])
    })

    test('ten who publish and ten who pull lose nothing and double nothing', async () => {
      const subject = newSubject()
      const durable = randomUUID()
      const buses = await Promise.all(Array.from({ length: 4 }, () => rig.open()))
      const heard: string[] = []
      const stop = new AbortController()
      const pulling = buses.map(async each => {
        const subscription = await each.subscribe({ name: durable, subject, ackWaitMs: ACK_WAIT_MS })
        while (!stop.signal.aborted) {
          const found = await subscription.pull(10, stop.signal)
          heard.push(...texts(found))
          await subscription.ack(found)
        }
        subscription.close()
      })
      const wanted = Array.from({ length: 400 }, (_, n) => `${n}`)
      await Promise.all(
        buses.map(async (each, k) => {
          for (let n = k; n < wanted.length; n += buses.length) await each.publish([message(subject, wanted[n] ?? '')])
        }),
      )
      await until(() => heard.length >= wanted.length)
      stop.abort()
      await Promise.all(pulling)
      for (const each of buses) await each.close()
      assert.deepEqual(
        heard.toSorted((a, b) => Number(a) - Number(b)),
        wanted,
      )
    })

    /** So many, in however many pulls; acknowledged. */
    async function drained(subscription: Subscription, count: number): Promise<Delivery[]> {
      const found: Delivery[] = []
      while (found.length < count) {
        const some = await next(subscription)
        await subscription.ack(some)
        found.push(...some)
      }
      return found
    }

    /** JetStream hears an acknowledgement when it comes. */
    async function lagOf(subscription: Subscription, expected: number): Promise<number> {
      let lag = -1
      await until(async () => (lag = await subscription.lag()) === expected)
      return lag
    }
  })
}
