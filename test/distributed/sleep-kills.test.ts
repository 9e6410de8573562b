// Processes that die or stand still while nights are on their way: real children killed with -9, a real server frozen. Nothing is lost,
// nothing is stored twice, nothing comes out of order.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import { migrate, openPostgres } from '../../src/db/db.ts'
import { ScaledClock, SystemClock } from '../../src/kernel/clock.ts'
import type { Part } from '../../src/http/http.ts'
import { reasonOf } from '../../src/kernel/errors.ts'
import { consumerParts } from '../../src/servers.ts'
import { startProgram, type Child } from '../programs/child.ts'
import { startNats } from '../servers/nats.ts'
import type { TestServer } from '../servers/server.ts'
import { ShiftedClock } from '../shifted-clock.ts'
import { DURABLE, sleepRooms, SHORT_ACK_WAIT_MS, type SleepRooms } from '../sleep-rooms.ts'
import { NORMALIZED, RAW, rawEvent, startStranger, type Found, type Stranger } from '../stranger.ts'
import { eventually, until } from '../waiting.ts'
import { freshDatabase } from './fresh-database.ts'

const never = new AbortController().signal
const IMPORTED = 'athlete-ally.activity.imported'
/** Fast enough that a lease of a dead process does not hold up the test. */
const SPEED = 10
/** Longer than a pull may stay without an answer. */
const LONG_MS = 30_000

describe('nights and events survive', () => {
  const fresh = freshDatabase()
  let nats: TestServer
  let url: string
  let stranger: Stranger
  let rooms: SleepRooms
  const children: Child[] = []
  const child = (name: string, ...args: string[]): Child => {
    const started = startProgram(name, url, nats.url, ...args)
    children.push(started)
    return started
  }
  before(async () => {
    url = await fresh.url()
    const database = await openPostgres({ url, clock: new SystemClock() })
    await migrate(database)
    await database.close()
    nats = await startNats()
    rooms = await sleepRooms(url, nats.url)
    await rooms.bus.subscribe({ name: DURABLE, subject: RAW, ackWaitMs: SHORT_ACK_WAIT_MS })
    await rooms.bus.subscribe({ name: 'dead-letters-durable', subject: 'dlq.>', ackWaitMs: SHORT_ACK_WAIT_MS })
    stranger = await startStranger(nats.url)
  })
  afterEach(async () => {
    for (const each of children.splice(0)) await each.kill()
  })
  after(async () => {
    await stranger.leave()
    await rooms.close()
    await nats.stop()
    await fresh.drop()
  })

  const handled = async (): Promise<void> => {
    await until(() => stranger.hasDone('AA_CORE_HOT', DURABLE))
  }
  const ours = async (subject: string): Promise<readonly Found[]> =>
    (await stranger.read('AA_CORE_HOT')).filter(found => found.subject === subject)
  const rowsOf = async (people: readonly string[]): Promise<readonly string[]> => {
    const found = await rooms.database.query<{ user_id: string }>('select user_id from sleep_data where user_id = any($1)', [
      people,
    ])
    return found.map(row => row.user_id).toSorted()
  }

  for (const place of ['before', 'after'])
    test(`kill -9 in the midst of a batch, ${place} its commit: each night is one row and is told once`, async () => {
      const people = Array.from({ length: 25 }, (): string => randomUUID()).toSorted()
      for (const userId of people) await stranger.publish(rawEvent(userId))
      const killed = child('normaliser', place)
      assert.equal(await killed.line(), 'stands still')
      await killed.kill()
      const stored = (await rowsOf(people)).length
      assert.equal(stored > 0, place === 'after')
      await rooms.normaliser.service.start()
      await handled()
      await rooms.normaliser.service.stop()
      const rows = await rowsOf(people)
      assert.deepEqual(rows, people)
      await rooms.relay.service.start()
      await until(async () => (await rooms.database.query('select from outbox')).length === 0)
      await rooms.relay.service.stop()
      const told = (await ours(NORMALIZED)).map(userOf).filter(userId => people.includes(userId))
      assert.deepEqual(told.toSorted(), people)
    })

  test('a fifth delivery that dies with its process: the sixth makes it a dead letter', async () => {
    const userId = randomUUID()
    await stranger.publish(rawEvent(userId))
    // Nobody else has it meanwhile, however slow this is.
    const subscription = await rooms.bus.subscribe({ name: DURABLE, subject: RAW, ackWaitMs: 600_000 })
    for (let attempt = 0; attempt < 4;) {
      const [delivery] = await subscription.pull(1, never)
      if (delivery === undefined) continue
      attempt = delivery.attempt
      await subscription.nak([delivery], 1)
    }
    subscription.close()
    const killed = child('normaliser', 'before')
    assert.equal(await killed.line(), 'stands still')
    await killed.kill()
    await rooms.normaliser.service.start()
    await handled()
    await rooms.normaliser.service.stop()
    const [letter, ...more] = (await stranger.read('AA_DLQ')).filter(found => userOf(found) === userId)
    assert.equal(letter?.subject, 'dlq.normalize.sleep.raw-received.max-deliver')
    assert.equal(letter.headers['Paceline-Attempt'], '6')
    assert.deepEqual(more, [])
    assert.deepEqual(await rowsOf([userId]), [])
  })

  test('kill -9 of the process that relays: another takes over, and the events of each athlete stay in order', async () => {
    const athletes = Array.from({ length: 5 }, (): string => randomUUID())
    const anchor = String(Date.now())
    const first = child('relayer', String(SPEED), anchor)
    assert.equal(await first.line(), 'ready')
    const write = async (from: number, count: number): Promise<void> => {
      const ids = `select gen_random_uuid(), $4, jsonb_build_object('athleteId', a, 'n', n), now()`
      const text = `insert into outbox (id, subject, payload, created_at) ${ids} from generate_series($2::int, $3::int) n, unnest($1::text[]) a order by n`
      await rooms.database.query(text, [athletes, from, from + count - 1, IMPORTED])
      await rooms.database.notify('paceline_outbox', '')
    }
    await write(0, 400)
    assert.equal(await first.line(), 'batch')
    await first.kill()
    const left = await rooms.database.query('select from outbox')
    assert(left.length > 0, 'it was killed in the midst of it')
    await write(400, 100)
    const second = child('relayer', String(SPEED), anchor)
    assert.equal(await second.line(), 'ready')
    await until(async () => (await rooms.database.query('select from outbox')).length === 0)
    const order = new Map(athletes.map(athlete => [athlete, [] as number[]]))
    for (const { data } of await ours(IMPORTED)) {
      const { athleteId, n } = JSON.parse(data.toString()) as { athleteId: string; n: number }
      order.get(athleteId)?.push(n)
    }
    const wanted = Array.from({ length: 500 }, (_, n) => n)
    for (const heard of order.values()) assert.deepEqual(heard, wanted)
  })

  test('a row that the bus refuses becomes a dead letter after five times; only its own athlete waits', async () => {
    const [large, other] = [randomUUID(), randomUUID()]
    const rows: readonly (readonly [athlete: string, note: string])[] = [
      [large, 'before'],
      [large, 'x'.repeat(1_100_000)],
      [large, 'after'],
      [other, 'other'],
    ]
    for (const [athleteId, note] of rows)
      await rooms.database.query(
        `insert into outbox (id, subject, payload, created_at) values (gen_random_uuid(), $1, $2, now())`,
        [IMPORTED, JSON.stringify({ athleteId, note })],
      )
    const realClock = new ScaledClock(new SystemClock(), SPEED, Date.now())
    const relaying = await sleepRooms(url, nats.url, { realClock })
    const notes = async (): Promise<(string | undefined)[]> =>
      (await ours(IMPORTED)).map(({ data }) => (JSON.parse(data.toString()) as { note?: string }).note).filter(Boolean)
    await relaying.relay.service.start()
    await until(async () => (await notes()).includes('other'))
    await until(async () => (await rooms.database.query('select from outbox')).length === 0)
    await relaying.close()
    const heard = await notes()
    assert.deepEqual(new Set(heard), new Set(['after', 'before', 'other']))
    assert.equal(heard.length, 3)
    assert.equal(heard.at(-1), 'after')
    const [letter] = await rooms.deadLetters.list({ subject: 'dlq.relay.activity.imported.refused', limit: 9 })
    assert.partialDeepStrictEqual(letter, { reason: 'refused', attempt: 5, originalSubject: IMPORTED })
    const whole = await rooms.deadLetters.read(letter?.id ?? '')
    assert((whole?.payload ?? '').length > 1_100_000)
  })

  test('a server that stands still: the stalled pull is noticed, and goes on when the server does', async () => {
    const realClock = new ShiftedClock()
    const watched = await sleepRooms(url, nats.url, { realClock })
    const [part] = consumerParts([watched.normaliser])
    assert(part)
    await watched.normaliser.service.start()
    realClock.advance(LONG_MS)
    await stranger.publish(rawEvent(randomUUID()))
    await until(() => !watched.normaliser.isStalled())
    await part.check()
    await nats.freeze()
    // What had come before may still be read.
    await until(async () => {
      realClock.advance(LONG_MS)
      return (await refusalOf(part)) !== undefined
    })
    assert.match((await refusalOf(part)) ?? '', /^normalize-sleep-durable: no pull was answered for a while$/)
    assert.equal(part.name, 'consumer')
    nats.thaw()
    await until(() => !watched.normaliser.isStalled())
    await part.check()
    const userId = randomUUID()
    await stranger.publish(rawEvent(userId))
    await until(async () => (await rowsOf([userId])).length === 1)
    await watched.close()
  })

  test('a server that comes back without its streams: they are made anew, and nights arrive again', async () => {
    const lost = await startNats()
    const left = await sleepRooms(url, lost.url)
    await left.normaliser.service.start()
    const arrives = async (): Promise<void> => {
      const userId = randomUUID()
      await eventually(async () => {
        const [published] = await left.bus.publish([{ subject: RAW, id: userId, data: Buffer.from(rawEvent(userId)) }])
        assert.equal(published?.outcome, 'stored')
      })
      await until(async () => (await rowsOf([userId])).length === 1)
    }
    await arrives()
    await lost.kill()
    rmSync(join(lost.folder, 'store'), { recursive: true })
    await lost.restart()
    await arrives()
    await left.close()
    await lost.stop()
  })
})

const refusalOf = async (part: Part): Promise<string | undefined> =>
  await Promise.resolve(part.check()).then(
    () => undefined,
    (error: unknown) => reasonOf(error),
  )

function userOf({ data }: Found): string {
  const { payload, record } = JSON.parse(data.toString()) as { payload?: { userId: string }; record?: { userId: string } }
  return payload?.userId ?? record?.userId ?? ''
}
