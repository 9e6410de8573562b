// Dead letters on every bus: written down, shown, replayed, erased, pruned.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { eraseSome } from '../../src/accounts/accounts.ts'
import type { Database } from '../../src/db/db.ts'
import { WRITTEN_AT, type Bus, type DeadLetter, type Delivery, type Message } from '../../src/events/events.ts'
import { hear } from '../../src/kernel/channels.ts'
import { DAY_MS, HOUR_MS } from '../../src/kernel/durations.ts'
import type { PacelineError } from '../../src/kernel/errors.ts'
import { erasers, type Rooms } from '../../src/rooms.ts'
import { roomsOn } from '../rooms.ts'
import { ShiftedClock } from '../shifted-clock.ts'
import { until } from '../waiting.ts'

export interface LettersRig {
  readonly database: Database
  readonly bus: Bus
  close(): Promise<void>
}

const RAW = 'athlete-ally.sleep.raw-received'
const INVALID = 'dlq.normalize.sleep.raw-received.schema-invalid'
const never = new AbortController().signal

export function deadLettersContract(name: string, openRig: () => Promise<LettersRig>): void {
  describe(`dead letters: ${name}`, () => {
    const clock = new ShiftedClock()
    let rig: LettersRig
    let rooms: Rooms
    before(async () => {
      rig = await openRig()
      rooms = roomsOn({ database: rig.database, bus: rig.bus, clock, realClock: clock })
      for (const { service } of [rooms.normaliser, rooms.deadLetters.consumer]) await service.start()
    })
    after(async () => {
      for (const { service } of [rooms.normaliser, rooms.deadLetters.consumer]) await service.stop()
      await rig.close()
    })

    const publish = async (data: Uint8Array | string, more: Partial<Message> = {}): Promise<string> => {
      const id = more.id ?? randomUUID()
      const [published] = await rig.bus.publish([{ subject: RAW, data: Buffer.from(data), ...more, id }])
      assert.equal(published?.outcome, 'stored')
      return id
    }
    const lettersOf = async (id: string): Promise<DeadLetter[]> => {
      const ids = await rig.database.query<{ id: string }>('select id from dead_letter where event_id = $1 order by id', [id])
      return (await Promise.all(ids.map(row => rooms.deadLetters.read(row.id)))).filter(letter => letter !== undefined)
    }
    const buried = async (data: Uint8Array | string, more: Partial<Message> = {}, count = 1): Promise<DeadLetter[]> => {
      const id = await publish(data, more)
      let letters: DeadLetter[] = []
      await until(async () => (letters = await lettersOf(id)).length === count)
      return letters
    }
    const nightOf = (userId: string, date = '10/02/2025'): string =>
      JSON.stringify({ eventId: 'e', payload: { userId, date, durationMinutes: 420, raw: { source: 'oura' } } })
    /** What the stream of dead letters has of a message. */
    const inStream = async (text: string): Promise<Delivery[]> => {
      const subscription = await rig.bus.subscribe({ name: randomUUID(), subject: 'dlq.>', ackWaitMs: 60_000 })
      const found: Delivery[] = []
      const all = await subscription.lag()
      while (found.length < all) found.push(...(await subscription.pull(10, never)))
      await subscription.ack(found)
      subscription.close()
      return found.filter(({ data }) => data.includes(text))
    }

    test('a message that nobody can read is there with its bytes, its reason and what to do', async () => {
      const bytes = Buffer.from([0, 255, 1, 2, 0])
      const [letter] = await buried(bytes)
      assert(letter)
      assert.deepEqual([letter.payload, letter.payloadEncoding], [bytes.toString('base64'), 'base64'])
      assert.deepEqual(
        [letter.subject, letter.originalSubject, letter.reason, letter.attempt, letter.error, letter.replays],
        [INVALID, RAW, 'schema-invalid', 1, 'event: Not JSON', 0],
      )
      assert.match(letter.action ?? '', /fix its publisher/)
    })

    test('its error names fields and never values, and its text is shown as it was', async () => {
      const body = nightOf('secret-name')
      const [letter] = await buried(body)
      assert.equal(letter?.error, 'payload.date: Invalid date format')
      assert.deepEqual([letter?.payload, letter?.payloadEncoding], [body, 'utf8'])
    })

    test('the list is newest first, by page and by subject; what is large is shown alone', async () => {
      const [older] = await buried('older')
      const [newer] = await buried(`newer ${'x'.repeat(20_000)}`)
      assert(older && newer)
      const [first, second] = await rooms.deadLetters.list({ limit: 2 })
      assert.deepEqual([first?.id, second?.id], [newer.id, older.id])
      assert.deepEqual([first?.payload, second?.payload], [null, 'older'])
      assert.equal((await rooms.deadLetters.list({ after: newer.id, limit: 1 }))[0]?.id, older.id)
      for (const subject of [INVALID, RAW]) assert.equal((await rooms.deadLetters.list({ subject, limit: 1 }))[0]?.id, newer.id)
      assert.deepEqual(await rooms.deadLetters.list({ subject: 'dlq.other', limit: 1 }), [])
    })

    test('a replay publishes the same bytes under a number of its own, and is written down', async () => {
      const id = randomUUID()
      const [letter] = await buried('no json', { id })
      assert(letter)
      assert(await rooms.deadLetters.replay(letter.id))
      assert.equal((await rooms.deadLetters.read(letter.id))?.replays, 1)
      let letters: DeadLetter[] = []
      await until(async () => (letters = await lettersOf(id)).length === 2)
      assert.deepEqual(
        letters.map(({ payload }) => payload),
        ['no json', 'no json'],
      )
      const ids = (await inStream('no json')).map(each => each.id.replace(/:\d+$/, ''))
      assert(ids.includes(id) && ids.includes(`${id}:r1`), ids.join())
      assert(await rooms.deadLetters.replay(letters[1]?.id ?? ''))
      await until(async () => (await lettersOf(id)).length === 3)
      assert(
        (await inStream('no json')).some(each => each.id.startsWith(`${id}:r2:`)),
        'numbers are counted over all letters of an event',
      )
      assert.equal(await rooms.deadLetters.replay(randomUUID()), false)
    })

    test('a replay whose end nobody knows is the same replay again', async () => {
      const [letter] = await buried('interrupted')
      assert(letter)
      await rig.database.query('insert into dead_letter_replay values ($1, 1, now(), null)', [letter.id])
      assert(await rooms.deadLetters.replay(letter.id))
      const rows = await rig.database.query('select number from dead_letter_replay where dead_letter_id = $1', [letter.id])
      assert.deepEqual(rows, [{ number: 1 }])
    })

    test('all of a subject are replayed once; one that was repaired meanwhile is stored', async () => {
      const prefix = `dlq.test.${randomUUID()}`
      const good = nightOf(randomUUID(), '2025-10-02')
      for (const n of [1, 2]) {
        const headers = { 'Paceline-Original-Subject': RAW, 'Paceline-Original-Id': `${prefix}-${n}` }
        await rig.bus.publish([{ subject: prefix, id: `${prefix}:${n}`, data: Buffer.from(good), headers }])
      }
      await until(async () => (await rooms.deadLetters.list({ subject: prefix, limit: 9 })).length === 2)
      assert.equal(await rooms.deadLetters.replayAll(prefix), 2)
      assert.equal(await rooms.deadLetters.replayAll(prefix), 0)
      const { userId } = (JSON.parse(good) as { payload: { userId: string } }).payload
      await until(async () => (await rooms.sleep.list({ userId, limit: 1 })).length === 1)
    })

    test('however many ask at once, each letter is replayed once, and those that die again are left for the next time', async () => {
      const subject = `dlq.test.${randomUUID()}`
      const many = 45
      for (let n = 0; n < many; n++) {
        const headers = { 'Paceline-Original-Subject': RAW, 'Paceline-Original-Id': `${subject}-${n}` }
        await rig.bus.publish([{ subject, id: `${subject}:${n}`, data: Buffer.from(`dies again ${subject}`), headers }])
      }
      const count = async (): Promise<number> =>
        (await rig.database.query('select from dead_letter where event_id like $1', [`${subject}-%`])).length
      await until(async () => (await count()) === many)
      await Promise.all(Array.from({ length: 6 }, () => rooms.deadLetters.replayAll(subject)))
      await until(async () => (await count()) >= 2 * many)
      const numbers = await rig.database.query(
        'select distinct number from dead_letter_replay join dead_letter on id = dead_letter_id where subject = $1',
        [subject],
      )
      assert.deepEqual(numbers, [{ number: 1 }])
      assert.equal(await count(), 2 * many)
      // They are found by the subject to which all were published, too: it ends, though each that dies again is one more.
      await rooms.deadLetters.replayAll(RAW)
    })

    test('a person is one, however their id is written', async () => {
      const { id } = await rooms.accounts.createAthlete({ name: 'Ada', timezone: null })
      await buried(nightOf(id.toUpperCase()))
      assert.equal((await rig.database.query('select from dead_letter where user_id = $1', [id])).length, 1)
    })

    test('one of which nobody says where it was published is not replayed', async () => {
      const subject = `dlq.test.${randomUUID()}`
      await rig.bus.publish([{ subject, id: randomUUID(), data: Buffer.from('?') }])
      await until(async () => (await rooms.deadLetters.list({ subject, limit: 1 })).length === 1)
      const [letter] = await rooms.deadLetters.list({ subject, limit: 1 })
      await assert.rejects(rooms.deadLetters.replay(letter?.id ?? ''), {
        code: 'PACE_NOT_REPLAYABLE',
      } satisfies Partial<PacelineError>)
    })

    test('who leaves a vendor has its dead letters erased, also from the stream, and none is written down afterwards', async () => {
      const { id: athleteId } = await rooms.accounts.createAthlete({ name: 'Ada', timezone: null })
      const body = nightOf(athleteId)
      const other = nightOf(randomUUID())
      await buried(body)
      await buried(other)
      const whose = { athleteId, vendor: 'oura' }
      await rig.database.transaction(tx => eraseSome(erasers, tx, { ...whose, now: new Date(clock.now()) }, 1_000))
      await rooms.deadLetters.sweep()
      const left = await rig.database.query<{ payload: Buffer }>('select payload from dead_letter')
      assert.deepEqual(
        [left.some(({ payload }) => payload.includes(athleteId)), left.some(({ payload }) => payload.equals(Buffer.from(other)))],
        [false, true],
      )
      assert.deepEqual(await inStream(athleteId), [])
      assert.equal((await inStream(other)).length, 1)
      await rig.database.query(
        "insert into deletion_receipt (id, athlete_id, vendor, cause, counts, deleted_at) values (gen_random_uuid(), $1, 'oura', 'disconnected', '{}', $2)",
        [athleteId, new Date(clock.now() + HOUR_MS)],
      )
      await publish(body, { headers: { [WRITTEN_AT]: new Date(clock.now()).toISOString() } })
      await until(async () => (await rig.database.query('select from dead_letter_gone')).length === 1)
      await rooms.deadLetters.sweep()
      assert.deepEqual(await inStream(athleteId), [])
      assert.deepEqual(await rig.database.query('select from dead_letter where user_id = $1', [athleteId]), [])
    })

    test('a database that answers and cannot store uses up no deliveries: nothing more is pulled until a night could be stored', async () => {
      const { database } = rig
      let retries = 0
      const deafen = hear('paceline:normalized', ({ result }) => {
        if (result === 'retry') retries += 1
      })
      await database.script(`
        create function no_room() returns trigger language plpgsql as $$
        begin
          raise exception 'no room' using errcode = '40001';
        end $$;
        create trigger no_room before insert on sleep_record for each row execute function no_room()`)
      const people = Array.from({ length: 30 }, () => randomUUID())
      const send = async (userIds: readonly string[]): Promise<void> => {
        await rig.bus.publish(
          userIds.map(userId => ({ subject: RAW, id: randomUUID(), data: Buffer.from(nightOf(userId, '2025-10-02')) })),
        )
      }
      await send(people)
      // A batch for each who pulls at once.
      const inHand = database.kind === 'postgres' ? 30 : 10
      await until(() => retries >= inHand)
      const later = [randomUUID(), randomUUID()]
      await send(later)
      for (let look = 0; look < 10; look++) {
        await clock.sleep(100)
        assert.equal(retries, inHand)
      }
      await database.script('drop trigger no_room on sleep_record; drop function no_room')
      for (const userId of [...people, ...later])
        await until(async () => (await rooms.sleep.list({ userId, limit: 1 })).length === 1)
      deafen()
      assert.deepEqual(await database.query('select from dead_letter where user_id = any($1)', [[...people, ...later]]), [])
    })

    test('a letter that the bus does not take is a row, and holds up nobody', async () => {
      const { bus } = rig
      const publishing = bus.publish.bind(bus)
      bus.publish = async messages =>
        messages.some(({ subject }) => subject.startsWith('dlq.'))
          ? messages.map(() => ({ outcome: 'unsent', error: new Error('full') }) as const)
          : await publishing(messages)
      const userId = randomUUID()
      const letters = await Promise.all(Array.from({ length: 12 }, (_, n) => buried(`no json ${n}`)))
      await publish(nightOf(userId, '2025-10-02'))
      await until(async () => (await rooms.sleep.list({ userId, limit: 1 })).length === 1)
      bus.publish = publishing
      assert(letters.flat().every(({ reason, attempt }) => reason === 'schema-invalid' && attempt === 1))
    })

    test('is kept for seven days', async () => {
      await buried('kept')
      await rooms.deadLetters.prune()
      assert.notDeepEqual(await rooms.deadLetters.list({ limit: 1 }), [])
      clock.advance(7 * DAY_MS + HOUR_MS)
      await rooms.deadLetters.prune()
      assert.deepEqual(await rooms.deadLetters.list({ limit: 1 }), [])
    })
  })
}
