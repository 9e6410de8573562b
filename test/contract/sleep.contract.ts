// Which night counts, on every database: whoever tells of it, in whatever order, in however many batches and processes.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Database } from '../../src/db/db.ts'
import { WRITTEN_AT, type Delivery, type Held, type Verdict } from '../../src/events/events.ts'
import { HOUR_MS, DAY_MS } from '../../src/kernel/durations.ts'
import { Normaliser } from '../../src/sleep/normaliser.ts'
import { SleepStore } from '../../src/sleep/sleep-store.ts'
import { roomsOn } from '../rooms.ts'
import { runs } from '../runs.ts'
import { ShiftedClock } from '../shifted-clock.ts'
import { emptiedStore } from './emptied-store.ts'

const PRIORITY = ['oura', 'whoop', 'garmin', 'unknown']
const DATE = '2026-03-10'

interface Told {
  readonly userId?: string
  readonly date?: string
  readonly source?: string | undefined
  readonly id?: string | undefined
  readonly minutes?: number
  readonly score?: number | undefined
  readonly validation?: string | undefined
  /** Hours of the day. */
  readonly capturedAt?: number
  readonly writtenAt?: number
}

interface Stored {
  readonly vendor: string
  readonly minutes: number
  readonly score: number | null
}

export function sleepContract(name: string, open: () => Promise<Database>): void {
  describe(`sleep: ${name}`, () => {
    const emptied = emptiedStore(open)
    const clock = new ShiftedClock()

    async function world(priority = PRIORITY) {
      const database = await emptied()
      const settings = { durable: 'd', maxDeliver: 5, ackWaitMs: 60_000 }
      const process = (): Normaliser =>
        new Normaliser({ database, clock, settings, store: new SleepStore({ database, priority }) })
      const one = process()
      const hear = async (...told: Told[]): Promise<readonly Verdict[]> => await one.handle(told.map(held))
      return { database, process, hear, ...reading(database) }
    }
    const held = ({ writtenAt, ...told }: Told): Held => heldOf(bodyOf(told), new Date(writtenAt ?? clock.now()))

    test('a night is stored as the document says: vendor, clamped and rounded score, time', async () => {
      const { database, hear, told } = await world()
      await hear({ source: 'oura', score: 85.5, minutes: 420, capturedAt: 8 })
      await hear({ userId: 'high', source: 'whoop', score: 150 }, { userId: 'low', source: 'fitbit', score: -20 })
      await hear({ userId: 'none' })
      assert.deepEqual(
        await database.query(
          'select user_id, date::text, duration_minutes, quality_score, vendor, captured_at from sleep_data order by user_id',
        ),
        [
          { ...row('ada', 'oura', 86), duration_minutes: 420 },
          row('high', 'whoop', 100),
          row('low', 'unknown', 0),
          row('none', 'unknown', null),
        ].toSorted((a, b) => (a.user_id < b.user_id ? -1 : 1)),
      )
      assert.deepEqual((await told('ada'))[0], {
        record: {
          userId: 'ada',
          date: DATE,
          durationMinutes: 420,
          qualityScore: 86,
          vendor: 'oura',
          capturedAt: '2026-03-10T08:00:00.000Z',
        },
      })
      assert(!('qualityScore' in ((await told('none'))[0]?.record ?? {})), 'an absent score is not told')
    })

    test('a later word about a sleep counts, an earlier one does not, and what changes nothing is not told', async () => {
      const { hear, night, told } = await world()
      const verdicts = await hear({ minutes: 400, capturedAt: 9 }, { minutes: 1, capturedAt: 8 })
      assert.deepEqual(verdicts, [{ verdict: 'done' }, { verdict: 'done' }])
      await hear({ minutes: 2, capturedAt: 7 })
      await hear({ minutes: 400, capturedAt: 9 })
      assert.equal((await night())?.minutes, 400)
      assert.equal((await told()).length, 1)
      await hear({ minutes: 410, capturedAt: 9 })
      assert.equal((await night())?.minutes, 410)
      assert.equal((await told()).length, 2)
    })

    test('of several sleeps of one vendor on one day the longest counts, whichever changed last', async () => {
      const { hear, night } = await world()
      await hear({ source: 'whoop', id: 'night', minutes: 372, capturedAt: 7 })
      await hear({ source: 'whoop', id: 'nap', minutes: 60, capturedAt: 20 })
      assert.deepEqual(await night(), { vendor: 'whoop', minutes: 372, score: null })
      await hear({ source: 'whoop', id: 'night', minutes: 30, capturedAt: 21 })
      assert.equal((await night())?.minutes, 60, 'one that was cut short is no longer the longest')
    })

    test('a tentative record never replaces a final one, of the same sleep or of another', async () => {
      const { hear, night } = await world()
      await hear({ source: 'garmin', id: 'a', minutes: 100, validation: 'ENHANCED_TENTATIVE', capturedAt: 6 })
      assert.equal((await night())?.minutes, 100)
      await hear({ source: 'garmin', id: 'a', minutes: 450, score: 87, validation: 'ENHANCED_FINAL', capturedAt: 5 })
      assert.deepEqual(await night(), { vendor: 'garmin', minutes: 450, score: 87 })
      await hear({ source: 'garmin', id: 'a', minutes: 150, validation: 'ENHANCED_TENTATIVE', capturedAt: 9 })
      await hear({ source: 'garmin', id: 'b', minutes: 900, validation: 'AUTO_TENTATIVE', capturedAt: 9 })
      assert.deepEqual(await night(), { vendor: 'garmin', minutes: 450, score: 87 })
    })

    test('a vendor that goes first counts, also when it is shorter, older and comes later', async () => {
      const { hear, night } = await world()
      await hear({ source: 'garmin', minutes: 500, capturedAt: 10 })
      await hear({ source: 'oura', minutes: 300, capturedAt: 5 })
      await hear({ source: 'whoop', minutes: 480, capturedAt: 12 })
      assert.deepEqual(await night(), { vendor: 'oura', minutes: 300, score: null })
      const other = await world(['garmin', 'oura', 'whoop', 'unknown'])
      await other.hear({ source: 'oura' }, { source: 'garmin', minutes: 500 })
      assert.equal((await other.night())?.vendor, 'garmin')
    })

    test('one that cannot be stored or read holds back none of its neighbours', async () => {
      const { database, process, night } = await world()
      const good = held({ userId: 'good' })
      const far = held({ userId: 'far', capturedAt: 24 * 400_000 })
      await database.script(`alter table sleep_record add constraint never check (user_id <> 'never')`)
      const verdicts = await process().handle([
        good,
        heldOf('{', new Date()),
        held({ userId: 'never' }),
        far,
        held({ userId: 'next' }),
      ])
      await database.script('alter table sleep_record drop constraint never')
      assert.deepEqual(
        verdicts.map(verdict => (verdict.verdict === 'dead' ? verdict.reason : verdict.verdict)),
        ['done', 'schema-invalid', 'non-retryable', 'non-retryable', 'done'],
      )
      assert(verdicts.every(verdict => verdict.verdict !== 'dead' || !/never'|400000/.test(verdict.error)))
      for (const user of ['good', 'next']) assert.equal((await night(user))?.minutes, 420)
      for (const user of ['never', 'far']) assert.equal(await night(user), undefined)
    })

    test('whatever the order, the batches and the processes, the same night counts', async () => {
      const { database, process, night } = await world()
      const words = fc.array(
        fc.record({
          source: fc.constantFrom('oura', 'whoop', 'garmin', undefined),
          id: fc.constantFrom('a', 'b', undefined),
          minutes: fc.integer({ min: 0, max: 1440 }),
          validation: fc.constantFrom('ENHANCED_FINAL', 'ENHANCED_TENTATIVE', undefined),
        }),
        { minLength: 1, maxLength: 12 },
      )
      const order = fc.array(fc.nat(), { minLength: 12, maxLength: 12 })
      await fc.assert(
        fc.asyncProperty(words, order, fc.integer({ min: 1, max: 12 }), async (told, keys, size) => {
          const userId = randomUUID()
          const dated = told.map((each, n) => ({ ...each, userId, capturedAt: n / 10 }))
          const shuffled = dated.toSorted((a, b) => (keys[a.capturedAt * 10] ?? 0) - (keys[b.capturedAt * 10] ?? 0))
          const batches = Array.from({ length: Math.ceil(shuffled.length / size) }, (_, n) =>
            shuffled.slice(n * size, (n + 1) * size).map(held),
          )
          await Promise.all(batches.map(batch => process().handle(batch)))
          assert.deepEqual(await night(userId), modelled(dated))
        }),
        { numRuns: runs(25, 300) },
      )
      assert.deepEqual(await database.query('select from sleep_data group by user_id, date having count(*) > 1'), [])
    })

    test('when a vendor leaves, the other’s night takes over and is told; what was published before brings nothing back', async () => {
      const { database, hear, night, told } = await world()
      const { accounts, erasure } = roomsOn({ database, clock })
      const { id: userId } = await accounts.createAthlete({ name: 'Ada', timezone: null })
      const before = { userId, source: 'oura', minutes: 300 }
      await connect(database, userId, 'oura')
      await hear(before, { userId, source: 'whoop', minutes: 480 }, { userId, date: '2026-03-11', source: 'oura' })
      const publishedAt = clock.now()
      clock.advance(HOUR_MS)
      const receipt = await erasure.disconnect(userId, 'oura')
      assert.equal(receipt?.counts['sleep_data'], 2)
      assert.deepEqual(await night(userId), { vendor: 'whoop', minutes: 480, score: null })
      assert.equal(await night(userId, '2026-03-11'), undefined)
      assert.deepEqual((await told(userId)).at(-1)?.record['vendor'], 'whoop')
      const again = await hear({ ...before, writtenAt: publishedAt }, { ...before, date: '2026-03-11', writtenAt: publishedAt })
      assert.deepEqual(again, [{ verdict: 'done' }, { verdict: 'done' }])
      assert.equal((await night(userId))?.vendor, 'whoop')
      assert.equal(await night(userId, '2026-03-11'), undefined)
      clock.advance(HOUR_MS)
      await hear({ ...before, writtenAt: clock.now() })
      assert.equal((await night(userId))?.vendor, 'oura', 'what is published later is stored')
    })

    test('retention takes the nights that are too old, of that vendor alone', async () => {
      const { database, hear, night } = await world()
      const { accounts, erasure } = roomsOn({ database, clock, settings: { retentionDays: () => 30 } })
      const { id: userId } = await accounts.createAthlete({ name: 'Ada', timezone: null })
      const day = (ago: number): string => new Date(clock.now() - ago * DAY_MS).toISOString().slice(0, 10)
      for (const ago of [40, 2])
        await hear({ userId, date: day(ago), source: 'oura' }, { userId, date: day(ago), source: 'whoop' })
      await hear({ userId: 'not an athlete', date: day(40), source: 'oura' })
      const [receipt] = await erasure.retain('oura')
      assert.equal(receipt?.counts['sleep_data'], 1)
      assert.equal((await night(userId, day(40)))?.vendor, 'whoop')
      assert.equal((await night(userId, day(2)))?.vendor, 'oura')
      assert.equal((await night('not an athlete', day(40)))?.vendor, 'oura')
    })
  })
}

const row = (user: string, vendor: string, score: number | null) => ({
  user_id: user,
  date: DATE,
  duration_minutes: 420,
  quality_score: score,
  vendor,
  captured_at: new Date(`${DATE}T08:00:00.000Z`),
})

function reading(database: Database) {
  return {
    night: async (userId = 'ada', date = DATE): Promise<Stored | undefined> => {
      const found = await database.query<Stored & { minutes: number }>(
        'select vendor, duration_minutes as minutes, quality_score as score from sleep_data where user_id = $1 and date = $2',
        [userId, date],
      )
      return found[0]
    },
    /** What was announced of a person, in order. */
    told: async (userId = 'ada'): Promise<{ record: Record<string, unknown> }[]> => {
      const rows = await database.query<{ payload: { record: Record<string, unknown> } }>(
        "select payload from outbox where payload #>> '{record,userId}' = $1 order by position",
        [userId],
      )
      return rows.map(({ payload }) => payload)
    },
  }
}

async function connect(database: Database, athleteId: string, vendor: string): Promise<void> {
  await database.query(
    `insert into connection (id, athlete_id, vendor, vendor_athlete_id, status, scopes, access_token, connected_at, consented_at)
     values (gen_random_uuid(), $1, $2, '1', 'needs_reauth', '{}', '', now(), now())`,
    [athleteId, vendor],
  )
}

function bodyOf({ userId = 'ada', date = DATE, minutes = 420, capturedAt = 8, source, id, score, validation }: Told): string {
  const raw = { source, externalId: id, qualityScore: score, validation }
  const at = new Date(Date.UTC(2026, 2, 10) + capturedAt * HOUR_MS).toISOString()
  return JSON.stringify({ eventId: randomUUID(), payload: { userId, date, durationMinutes: minutes, capturedAt: at, raw } })
}

function heldOf(body: string, writtenAt: Date): Held {
  const delivery: Delivery = {
    stream: 'AA_CORE_HOT',
    subject: 'athlete-ally.sleep.raw-received',
    seq: 1,
    deliverySeq: 1,
    id: 'x',
    data: Buffer.from(body),
    headers: { [WRITTEN_AT]: writtenAt.toISOString() },
    attempt: 1,
    publishedAt: writtenAt.getTime(),
  }
  return { delivery, traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` }
}

/** Said again, in other words: the last final word about each sleep, else the last; then the vendor, final, long. */
function modelled(told: readonly (Told & { minutes: number })[]): Stored | undefined {
  const rank = ({ source }: Told): number => PRIORITY.indexOf(source ?? 'unknown')
  const isTentative = ({ validation }: Told): number => Number(validation?.includes('TENTATIVE') ?? false)
  const sleeps = Map.groupBy(told, ({ source, id }) => `${source} ${id}`)
  const words = [...sleeps.values()].map(
    each => each.toSorted((a, b) => isTentative(a) - isTentative(b) || (b.capturedAt ?? 0) - (a.capturedAt ?? 0))[0],
  )
  const [best] = words
    .filter(word => word !== undefined)
    .toSorted((a, b) => rank(a) - rank(b) || isTentative(a) - isTentative(b) || b.minutes - a.minutes)
  return best && { vendor: best.source ?? 'unknown', minutes: best.minutes, score: null }
}
