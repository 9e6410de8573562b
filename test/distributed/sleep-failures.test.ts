// What goes wrong on the way of a night, as the document of the sleep events has it, and what becomes of the night: the whole program, with
// a real PostgreSQL stopped and started and a real NATS killed and restarted.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { DURABLE, installSleep, type Answered, type SleepInstallation } from '../programs/sleep-installation.ts'
import { startNats } from '../servers/nats.ts'
import { startPostgres } from '../servers/postgres.ts'
import type { TestServer } from '../servers/server.ts'
import { sleepRooms } from '../sleep-rooms.ts'
import { RAW, rawEvent, startStranger, type Found, type Stranger } from '../stranger.ts'
import { eventually, until } from '../waiting.ts'

const never = new AbortController().signal
const LETTERS = 'dlq.normalize.sleep.raw-received'
const VALID = { date: '2025-10-02', durationMinutes: 420 }

describe('a night on its way', () => {
  let postgres: TestServer
  let nats: TestServer
  let the: SleepInstallation
  let stranger: Stranger
  before(async () => {
    ;[postgres, nats] = await Promise.all([startPostgres(), startNats()])
    the = await installSleep(postgres.url, nats.url)
    stranger = await startStranger(nats.url)
  })
  after(async () => {
    await stranger.leave()
    await the.stop()
    await Promise.all([postgres.stop(), nats.stop()])
  })

  const about = async (userId: string, stream = 'AA_CORE_HOT'): Promise<readonly Found[]> =>
    (await stranger.read(stream)).filter(({ data }) => data.toString().includes(userId))
  const isStored = async (userId: string): Promise<boolean> => (await the.stored()).has(userId)
  const letters = async (): Promise<Answered<{ items: readonly { id: string; replays: number }[] }>> =>
    await the.admin('GET', '/admin/dead-letters')
  const isReady = async (): Promise<boolean> => (await fetch(`${the.server().url}/readyz`)).status === 200
  const counted = async (result: string): Promise<number> => {
    const labels = `{result="${result}",subject="${RAW}",stream="AA_CORE_HOT",durable="${DURABLE}"} `
    const [line] = await the.metrics(`normalize_sleep_messages_total${labels}`)
    return Number(line?.split(' ').at(-1) ?? 0)
  }

  const refused = {
    'with a date of another form': [{ date: '10/02/2025', durationMinutes: 420 }, 'date: Invalid date format'],
    'without a duration': [{ date: '2025-10-02' }, 'durationMinutes: Required'],
  } as const
  for (const [what, [night, detail]] of Object.entries(refused))
    test(`${what} is refused with the document's words and never published`, async () => {
      const userId = randomUUID()
      const { status, body } = await the.ingest({ userId, ...night })
      assert.equal(status, 400)
      assert.partialDeepStrictEqual(body, { error: 'Validation failed', details: [detail] })
      assert.deepEqual(await about(userId), [])
    })

  test('whose event is not what was agreed becomes a dead letter at once and is counted', async () => {
    const [before, userId] = [await counted('schema_invalid'), randomUUID()]
    await stranger.publish(JSON.stringify({ eventId: randomUUID(), payload: { userId, date: '2025-10-02' } }))
    await until(async () => (await counted('schema_invalid')) === before + 1)
    const [letter] = await about(userId, 'AA_DLQ')
    assert.equal(letter?.subject, `${LETTERS}.schema-invalid`)
    assert.equal(letter.headers['Paceline-Error'], 'payload.durationMinutes: Required')
    assert.equal(letter.headers['Paceline-Attempt'], '1')
    await until(() => stranger.hasDone('AA_CORE_HOT', DURABLE))
  })

  test('waits for a database that is away, and is stored when that is back; no letter comes of it', async () => {
    const people = Array.from({ length: 60 }, () => randomUUID())
    const dead = (await stranger.read('AA_DLQ')).length
    await postgres.halt()
    // The bus takes them meanwhile.
    for (const userId of people) assert.equal((await the.ingest({ userId, ...VALID })).status, 200)
    await until(async () => (await counted('retry')) > 0)
    await postgres.restart()
    await until(async () => {
      const stored = await the.stored().catch(() => new Set())
      return people.every(userId => stored.has(userId))
    })
    assert.equal((await stranger.read('AA_DLQ')).length, dead)
    // One batch was tried; the others were not even pulled.
    assert((await counted('retry')) < people.length)
  })

  test('that the bus does not take is answered with 500, and taken under the same key when the bus is back', async () => {
    const [userId, key] = [randomUUID(), randomUUID()]
    await nats.kill()
    const [{ items }, replay] = [
      (await letters()).body,
      (id: string) => the.admin<Answered['body']>('POST', `/admin/dead-letters/${id}/replay`),
    ]
    const id = items[0]?.id ?? assert.fail('no letter')
    // A replay is in the same plight.
    const failed = await Promise.all([the.ingest({ userId, ...VALID }, key), replay(id)])
    for (const { status, body } of failed) assert.deepEqual([status, body['code']], [500, 'PACE_BUS_UNAVAILABLE'])
    assert.equal((await letters()).body.items[0]?.replays, 0)
    await nats.restart()
    await until(isReady)
    const taken = await eventually(async () => {
      const again = await the.ingest({ userId, ...VALID }, key)
      assert.equal(again.status, 200)
      return again
    })
    assert.deepEqual(await the.ingest({ userId, ...VALID }, key), taken)
    await until(() => isStored(userId))
    assert.deepEqual(await replay(id), { status: 202, body: { replayed: 1 } })
    assert.equal((await letters()).body.items.find(letter => letter.id === id)?.replays, 1)
  })

  test('that the bus takes without an answer is one event with the repetition under its key', async () => {
    const [userId, key] = [randomUUID(), randomUUID()]
    await nats.freeze()
    const { status } = await the.ingest({ userId, ...VALID }, key)
    nats.thaw()
    assert.equal(status, 500)
    const taken = await eventually(async () => {
      const again = await the.ingest({ userId, ...VALID }, key)
      assert.equal(again.status, 200)
      return again
    })
    await until(() => isStored(userId))
    const events = (await about(userId)).filter(({ subject }) => subject === RAW)
    assert.deepEqual(
      events.map(({ headers }) => headers['Nats-Msg-Id']),
      [taken.body['eventId']],
    )
    assert.equal((await the.ingest({ userId, ...VALID, durationMinutes: 1 }, key)).status, 422)
  })

  test('that fails at its fifth delivery, too, becomes a dead letter, whose replay is stored', async () => {
    await the.server().stop()
    const rooms = await sleepRooms(postgres.url, nats.url)
    const userId = randomUUID()
    await stranger.publish(rawEvent(userId))
    const subscription = await rooms.bus.subscribe({ name: DURABLE, subject: RAW, ackWaitMs: 600_000 })
    for (let attempt = 0; attempt < 4;) {
      const [delivery] = await subscription.pull(1, never)
      if (delivery === undefined) continue
      attempt = delivery.attempt
      await subscription.nak([delivery], 1)
    }
    subscription.close()
    await postgres.halt()
    await rooms.normaliser.service.start()
    await until(async () => (await about(userId, 'AA_DLQ')).length > 0)
    const [letter, ...more] = await about(userId, 'AA_DLQ')
    assert.equal(letter?.subject, `${LETTERS}.max-deliver`)
    assert.equal(letter.headers['Paceline-Attempt'], '5')
    assert.deepEqual(more, [])
    await postgres.restart()
    await rooms.deadLetters.consumer.service.start()
    await eventually(async () => {
      assert.equal(await rooms.deadLetters.replayAll(`${LETTERS}.max-deliver`), 1)
    })
    await until(async () => (await the.stored().catch(() => new Set())).has(userId))
    await rooms.close()
    await the.restart()
  })
})
