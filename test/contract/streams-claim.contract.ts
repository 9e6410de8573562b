// Who may write: one claim among all, made when it is due, and nothing from a worker whose claim is gone.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Database } from '../../src/db/db.ts'
import { Outbox } from '../../src/events/events.ts'
import { StreamStore } from '../../src/streams/stream-store.ts'
import { MINUTE_MS } from '../durations.ts'
import { eventsOf, heard, listed, streamWorlds, WIDE } from './streams-fixture.ts'

const FEW = { activities: 3, ...WIDE } as const

export function streamsClaimContract(name: string, open: () => Promise<Database>): void {
  describe(`the claim of streams: ${name}`, () => {
    const world = streamWorlds(open)

    test('of many who ask at once, in three processes, one claims; the others give their permits back', async () => {
      const the = await world({ ...FEW, latencyMs: 500 })
      const processes = [the.process(), the.process(), the.process()] as const
      await the.run(async () => {
        const { id } = await listed(the, processes[0])
        const all = [...processes, ...processes].map(({ streams }) => streams.fetchLive(id))
        const outcomes = (await Promise.all(all)).map(({ outcome }) => outcome)
        assert.deepEqual(outcomes.toSorted(), ['lost', 'lost', 'lost', 'lost', 'success', 'success'])
        assert.equal((await the.row(id)).epoch, 1)
      })
      assert.equal(the.asked.length, 1)
      const spent = await the.database.query("select 1 from api_requests where endpoint = 'activity-streams'")
      assert.equal(spent.length, 1)
    })

    test('the claim itself refuses what is not due, whoever asks', async () => {
      const the = await world(FEW)
      const process = the.process()
      await the.run(async () => {
        const { id } = await listed(the, process)
        const parts = { database: the.database, newId: () => id }
        const store = new StreamStore({
          ...parts,
          connections: { hold: () => Promise.resolve(true) },
          outbox: new Outbox({ ...parts, clock: the.clock }),
        })
        const now = the.clock.now()
        const becomes = async (moved: Promise<boolean>): Promise<void> => assert(await moved)
        for (const [failures, backoffMs] of [
          [1, MINUTE_MS],
          [2, 5 * MINUTE_MS],
        ] as const) {
          const claim = await store.claim(id, now + (failures - 1) * MINUTE_MS)
          assert(claim)
          assert.equal(await store.claim(id, now), undefined)
          await becomes(store.fail(claim, 'no', now))
          assert.equal(await store.claim(id, now + backoffMs - 1), undefined)
        }
        const third = await store.claim(id, now + 5 * MINUTE_MS)
        assert(third)
        await becomes(store.defer(third, 'later', now + 10))
        assert.equal(await store.claim(id, now + 9), undefined)
        const fourth = await store.claim(id, now + 10)
        assert(fourth)
        await becomes(store.fail(fourth, 'no', now))
        assert.equal(await store.claim(id, now + 365 * 86_400_000), undefined)
      })
    })

    test('a worker that was thought dead changes nothing when it comes back', async () => {
      const the = await world(FEW)
      const [slow, other] = [the.process(), the.process()]
      const facts = await heard(() =>
        the.run(async () => {
          const { id } = await listed(the, slow)
          the.onAnswer = () => {
            slow.die()
          }
          const late = slow.streams.fetchLive(id)
          await the.clock.sleep(100_000)
          await other.streams.cleanUp()
          assert.equal((await the.row(id)).status, 'fetching')
          await the.clock.sleep(1)
          await other.streams.cleanUp()
          assert.partialDeepStrictEqual(await the.row(id), {
            status: 'failed',
            error: 'fetching_timeout_cleanup',
            retryCount: 1,
          })
          the.onAnswer = () => undefined
          assert.equal((await other.streams.fetchLive(id)).outcome, 'success')
          const row = await the.row(id)
          slow.revive()
          assert.deepEqual(await late, { outcome: 'fenced' })
          assert.deepEqual(await the.row(id), row)
          assert.equal((await eventsOf(the)).length, 1)
        }),
      )
      assert.deepEqual(
        facts.map(({ status }) => status),
        ['failed', 'success', 'fenced'],
      )
    })

    test('of two workers at one claim, the one that was taken over stores nothing even if it is first', async () => {
      const the = await world({ ...FEW, latencyMs: 20_000 })
      const [slow, other] = [the.process(), the.process()]
      await the.run(async () => {
        const { id } = await listed(the, slow)
        the.onAnswer = () => {
          slow.die()
        }
        const late = slow.streams.fetchLive(id)
        await the.clock.sleep(11 * MINUTE_MS)
        await other.streams.cleanUp()
        the.onAnswer = () => undefined
        const second = other.streams.fetchLive(id)
        await the.clock.sleep(5_000)
        slow.revive()
        assert.deepEqual(await late, { outcome: 'fenced' })
        assert.partialDeepStrictEqual(await the.row(id), { status: 'fetching', epoch: 2, points: null })
        assert.deepEqual(await second, { outcome: 'success' })
      })
    })

    test('an activity that is deleted while its streams are on the way stays deleted', async () => {
      const the = await world(FEW)
      const process = the.process()
      await the.run(async () => {
        const { id, externalId } = await listed(the, process)
        await process.streams.fetchLive(id)
        const [, , another] = await the.rows()
        assert(another)
        const remove = async (gone: string): Promise<void> => {
          await the.database.transaction(tx => the.activities.removeMissing(tx, the.athleteId, 'strava', [gone]))
        }
        // Before the answer is heard, so that the removal comes first on any machine.
        the.onAnswer = remove
        assert.equal((await process.streams.fetchLive(another.id)).outcome, 'fenced')
        await remove(externalId)
        assert.deepEqual(await the.database.query('select 1 from activity_stream'), [])
      })
    })

    test('a shutdown breaks a call off and leaves the row to whoever comes next', async () => {
      const the = await world({ ...FEW, latencyMs: 5_000 })
      const [first, second] = [the.process(), the.process()]
      await the.run(async () => {
        const { id } = await listed(the, first)
        await first.start()
        const fetching = first.streams.fetchLive(id)
        const ended = assert.rejects(fetching)
        await the.clock.sleep(1_000)
        await first.stop()
        await ended
        assert.partialDeepStrictEqual(await the.row(id), { status: 'deferred', retryCount: 0 })
        assert.equal((await second.streams.fetchLive(id)).outcome, 'success')
      })
    })
  })
}
