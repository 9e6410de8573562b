// A client that shares no code with us publishes whatever it likes. Each message ends as a row or as a dead letter with the same bytes, and
// the consumer goes on.
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { DURABLE, installSleep, type SleepInstallation } from '../programs/sleep-installation.ts'
import { startNats } from '../servers/nats.ts'
import type { TestServer } from '../servers/server.ts'
import { NORMALIZED, RAW, rawEvent, startStranger, type Found, type Stranger } from '../stranger.ts'
import { until } from '../waiting.ts'
import { freshDatabase } from './fresh-database.ts'

const LETTERS = 'dlq.normalize.sleep.raw-received'
const LARGE = 900_000
/** What the server takes as it comes. */
const MOST = 1_048_576

interface Letter {
  readonly id: string
  readonly subject: string
  readonly reason: string
  readonly error: string
  readonly attempt: number
  readonly payload: string
  readonly payloadEncoding: string
  readonly replays: number
  readonly replayedAt: string | null
  readonly action: string
}

describe("a stranger's client", () => {
  const fresh = freshDatabase()
  let nats: TestServer
  let the: SleepInstallation
  let stranger: Stranger
  before(async () => {
    nats = await startNats()
    the = await installSleep(await fresh.url(), nats.url)
    stranger = await startStranger(nats.url)
  })
  after(async () => {
    await stranger.leave()
    await the.stop()
    await nats.stop()
    await fresh.drop()
  })

  const handled = async (): Promise<void> => {
    await until(() => stranger.hasDone('AA_CORE_HOT', DURABLE))
    await until(() => stranger.hasDone('AA_DLQ', 'dead-letters-durable'))
  }
  const hasRow = async (userId: string): Promise<boolean> => (await the.stored()).has(userId)
  const letterWith = (data: Uint8Array, found: readonly Found[]): Found =>
    found.find(each => each.data.equals(data)) ?? assert.fail(`no letter has these ${data.length} bytes`)
  const read = async (id: string): Promise<Letter> => (await the.admin<Letter>('GET', `/admin/dead-letters/${id}`)).body
  /** Whole, which the list does not give of large ones. */
  const letters = async (query = ''): Promise<readonly Letter[]> => {
    type Listed = Omit<Letter, 'payload'> & { readonly payload: string | null }
    const { items } = (await the.admin<{ items: readonly Listed[] }>('GET', `/admin/dead-letters?limit=200${query}`)).body
    return await Promise.all(
      items.map(async ({ payload, ...rest }) => (payload === null ? await read(rest.id) : { ...rest, payload })),
    )
  }

  test('finds a consumer that gives up no message by itself, and says each word out loud', async () => {
    const { config } = await stranger.durable('AA_CORE_HOT', DURABLE)
    assert.partialDeepStrictEqual(config, { ack_policy: 'explicit', filter_subject: RAW })
    // The server's way to say that there is no limit.
    assert([undefined, -1].includes(config['max_deliver'] as undefined))
  })

  for (const isNamed of [true, false]) {
    const named = (): Record<string, string> => (isNamed ? { 'Nats-Msg-Id': randomUUID() } : {})
    const how = isNamed ? 'with an id of its own' : 'without an id'

    test(`a valid night ${how} is stored, a small one and one of 900 kB`, async () => {
      const people = [randomUUID(), randomUUID()] as const
      await stranger.publish(rawEvent(people[0]), named())
      await stranger.publish(rawEvent(people[1], { raw: { source: 'whoop', note: 'x'.repeat(LARGE) } }), named())
      await until(async () => (await hasRow(people[0])) && (await hasRow(people[1])))
    })

    test(`what is no night ${how} becomes a dead letter, byte for byte, and holds up nobody`, async () => {
      const neighbour = randomUUID()
      const sent = {
        malformed: Buffer.from(`{"eventId": "${randomUUID()}", "payload": `),
        'not an event': Buffer.from(JSON.stringify({ payload: { userId: randomUUID() } })),
        binary: Buffer.concat([Buffer.from([0, 255, 254, 13, 10]), randomBytes(64)]),
        large: randomBytes(LARGE),
      }
      for (const data of Object.values(sent)) await stranger.publish(data, { Note: 'Ä', ...named() })
      await stranger.publish(rawEvent(neighbour), named())
      await until(() => hasRow(neighbour))
      await handled()
      const found = await stranger.read('AA_DLQ')
      for (const data of Object.values(sent)) {
        const letter = letterWith(data, found)
        assert.equal(letter.subject, `${LETTERS}.schema-invalid`)
        assert.partialDeepStrictEqual(letter.headers, {
          Note: 'Ä',
          'Paceline-Reason': 'schema-invalid',
          'Paceline-Attempt': '1',
          'Paceline-Original-Subject': RAW,
        })
        assert.match(letter.headers['Paceline-Error'] ?? '', /^[\w.]+: /)
      }
    })

    test(`an empty message ${how} becomes an empty dead letter`, async () => {
      const before = (await stranger.read('AA_DLQ')).filter(({ data }) => data.length === 0).length
      await stranger.publish('', named())
      await handled()
      const empty = (await stranger.read('AA_DLQ')).filter(({ data }) => data.length === 0)
      assert.equal(empty.length, before + 1)
      assert.equal(empty.at(-1)?.headers['Paceline-Error'], 'event: Not JSON')
    })

    test(`a message ${how} that leaves no room for a letter's headers is kept all the same, byte for byte`, async () => {
      const headers = named()
      const room = isNamed ? 200 : 0
      const data = randomBytes(MOST - room)
      await stranger.publish(data, headers)
      await handled()
      const kept = await letters(`&subject=${LETTERS}.schema-invalid`)
      const same = kept.filter(letter => data.equals(Buffer.from(letter.payload, 'base64')))
      assert.deepEqual(
        same.map(({ reason, payloadEncoding, attempt }) => ({ reason, payloadEncoding, attempt })),
        [{ reason: 'schema-invalid', payloadEncoding: 'base64', attempt: 1 }],
      )
    })
  }

  test('the letters on the bus are the letters that the operator lists, with the same bytes and what to do', async () => {
    await handled()
    const listed = await letters()
    for (const { data, headers } of await stranger.read('AA_DLQ')) {
      const letter = listed.find(({ payload, payloadEncoding }) =>
        data.equals(Buffer.from(payload, payloadEncoding === 'base64' ? 'base64' : 'utf8')),
      )
      assert.partialDeepStrictEqual(letter, { reason: headers['Paceline-Reason'], error: headers['Paceline-Error'] })
      assert.match(letter?.action ?? '', /^Review the structure/)
    }
  })

  describe('words that no table holds as they are', () => {
    const half = '\ud800'
    // A pair of surrogates over the place where a long line is cut.
    const long = `${'x'.repeat(499)}😀${'x'.repeat(9_000)}`
    const strange: Readonly<Record<string, readonly [data: string, headers: Record<string, string>]>> = {
      'a person of half a letter': [JSON.stringify({ payload: { userId: half, raw: { source: half } } }), {}],
      'a person with a very long name': [JSON.stringify({ payload: { userId: `${'x'.repeat(255)}😀` } }), {}],
      'a time that is none': ['a time', { 'Paceline-Written-At': 'yesterday' }],
      'a time that no calendar has': ['a far time', { 'Paceline-Written-At': '+200000-01-01T00:00:00.000Z' }],
      'a long id': ['a long id', { 'Nats-Msg-Id': `${randomUUID()}${long}` }],
      'a long header': ['a long header', { Note: long, [long.slice(0, 499)]: long }],
      'a zero byte': ['a zero byte', { Note: 'a\0b', 'Nats-Msg-Id': 'a\0b', traceparent: 'a\0b' }],
      'a trace that is none': ['a trace', { traceparent: 'not a trace', tracestate: half }],
    }
    const letterHeaders: Readonly<Record<string, Record<string, string>>> = {
      'a far first time': { 'Paceline-First-At': '+200000-01-01T00:00:00.000Z' },
      'a count below all': { 'Paceline-Attempt': '-1e300' },
      'an endless count': { 'Paceline-Attempt': '-Infinity' },
      'a subject of zeros': { 'Paceline-Original-Subject': '\0' },
      'everything long': {
        'Paceline-Original-Subject': long,
        'Paceline-Original-Id': long,
        'Paceline-Error': long,
        'Paceline-Reason': long,
      },
    }

    test('hold up neither the consumer nor the list of letters', async () => {
      for (const [data, headers] of Object.values(strange)) await stranger.publish(data, headers)
      for (const [name, headers] of Object.entries(letterHeaders))
        await stranger.publish(name, headers, `dlq.strange.${randomUUID()}`)
      await handled()
      const odd = { traceparent: 'a\0b', 'Paceline-Written-At': '+200000-01-01T00:00:00.000Z', 'Nats-Msg-Id': long.slice(9) }
      const valid = randomUUID()
      await stranger.publish(rawEvent(valid), odd)
      await until(() => hasRow(valid))
      const payloads = (await letters()).map(({ payload }) => payload)
      const sent = [...Object.values(strange).map(([data]) => data), ...Object.keys(letterHeaders)]
      assert.deepEqual(
        sent.filter(data => !payloads.includes(data)),
        [],
      )
    })
  })

  describe('what the store refused', () => {
    const people = Array.from({ length: 4 }, () => `refused-${randomUUID()}`)
    const [byStranger = '', byId = '', ...bySubject] = people
    before(async () => {
      await the.database.script(`alter table sleep_record add constraint refused check (user_id not like 'refused-%')`)
    })

    test('becomes a letter each, and its neighbours are stored', async () => {
      const neighbours = Array.from({ length: 12 }, () => randomUUID())
      for (const [n, userId] of neighbours.entries()) {
        const other = people[n]
        if (other !== undefined) await stranger.publish(rawEvent(other))
        await stranger.publish(rawEvent(userId))
      }
      await handled()
      const stored = await the.stored()
      assert.deepEqual(
        neighbours.filter(userId => !stored.has(userId)),
        [],
      )
      const dead = (await stranger.read('AA_DLQ')).filter(({ subject }) => subject === `${LETTERS}.non-retryable`)
      assert.deepEqual(dead.map(userOf).toSorted(), people.toSorted())
      // Whatever was wrong, nobody's name is in the words for it.
      for (const { headers } of dead) assert.doesNotMatch(headers['Paceline-Error'] ?? '', /refused-/)
    })

    test('is processed when somebody republishes the bytes bare, once what refused it is gone', async () => {
      await the.database.script('alter table sleep_record drop constraint refused')
      const letter = (await stranger.read('AA_DLQ')).find(each => userOf(each) === byStranger)
      assert(letter)
      await stranger.publish(letter.data)
      await until(() => hasRow(byStranger))
    })

    test('is processed by a replay over HTTP, which is recorded; another one changes nothing', async () => {
      const { id } = (await letters()).find(({ payload }) => payload.includes(byId)) ?? assert.fail('no letter')
      assert.equal((await read(id)).replays, 0)
      assert.deepEqual(await the.admin('POST', `/admin/dead-letters/${id}/replay`), { status: 202, body: { replayed: 1 } })
      await until(() => hasRow(byId))
      const told = await events(NORMALIZED, byId)
      assert.equal(told, 1)
      await Promise.all(Array.from({ length: 4 }, () => the.admin('POST', `/admin/dead-letters/${id}/replay`)))
      await handled()
      assert.equal(await events(NORMALIZED, byId), told)
      const { replays, replayedAt } = await read(id)
      assert(replays >= 2 && replayedAt !== null)
    })

    test('is replayed by subject, each once', async () => {
      const replay = async (): Promise<unknown> =>
        (await the.admin('POST', '/admin/dead-letters/replay', { subject: `${LETTERS}.non-retryable` })).body
      // The one that the stranger republished is still a letter that nobody replayed.
      assert.deepEqual(await replay(), { replayed: bySubject.length + 1 })
      assert.deepEqual(await replay(), { replayed: 0 })
      await until(async () => {
        const stored = await the.stored()
        return people.every(userId => stored.has(userId))
      })
    })
  })

  test('a letter that cannot be replayed says so and holds up no other', async () => {
    const subject = `${LETTERS}.schema-invalid`
    const waiting = (await letters(`&subject=${subject}`)).filter(({ replays }) => replays === 0)
    const [full, ...more] = waiting.filter(({ payload }) => Buffer.from(payload, 'base64').length === MOST)
    assert(full)
    assert.deepEqual(more, [])
    const { status, body } = await the.admin<{ code: string }>('POST', `/admin/dead-letters/${full.id}/replay`)
    assert.deepEqual([status, body.code], [409, 'PACE_NOT_REPLAYABLE'])
    const replayed = await the.admin('POST', '/admin/dead-letters/replay', { subject })
    assert.deepEqual(replayed, { status: 202, body: { replayed: waiting.length - 1 } })
    assert.deepEqual((await the.admin('POST', `/admin/dead-letters/${randomUUID()}/replay`)).status, 404)
  })

  async function events(subject: string, userId: string): Promise<number> {
    let found: readonly Found[] = []
    await until(async () => {
      found = (await stranger.read('AA_CORE_HOT')).filter(each => each.subject === subject && userOf(each) === userId)
      return found.length > 0
    })
    return found.length
  }
})

function userOf({ data }: Found): string {
  try {
    const event = JSON.parse(data.toString()) as { payload?: { userId?: string }; record?: { userId?: string } }
    return event.payload?.userId ?? event.record?.userId ?? ''
  } catch {
    return ''
  }
}
