// Storing whatever comes, in whatever order and by however many at once, on every database: each activity once, told of once.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Database } from '../../src/db/db.ts'
import { strava } from '../vendor-visit.ts'
import { ActivitiesFixture, realAnswers, type Answers } from './activities-fixture.ts'

const IMPORTED = 'athlete-ally.activity.imported'

export function activitiesStormContract(name: string, open: () => Promise<Database>): void {
  describe(`storing activities whatever comes: ${name}`, () => {
    let fixture: ActivitiesFixture
    let real: Answers
    before(async () => {
      fixture = await ActivitiesFixture.open(open)
      real = await realAnswers()
    })
    after(async () => {
      await fixture.database.close()
    })
    const ids = (list: readonly { readonly id: string }[]): string[] => list.map(each => each.id)

    test('whatever can be read of a list can be stored', async () => {
      const fields = Object.keys(real.details[0] ?? {})
      const leaf = fc.constantFrom(
        null,
        [],
        {},
        -0,
        0.1,
        -1,
        2 ** 31,
        2 ** 53,
        1e308,
        '',
        'a\0',
        '\ud83d',
        'true',
        1,
        false,
        [91, 0],
        [1, 2],
      )
      const entry = fc.dictionary(fc.constantFrom(...fields), leaf, { maxKeys: 12 })
      const start = fc.constantFrom('0000-01-01T00:00:00Z', '9999-12-31T23:59:59-14:00', '2026-01-02T03:04:05.678901+05:30')
      const property = fc.asyncProperty(fc.array(fc.tuple(entry, start), { maxLength: 20 }), async entries => {
        const athleteId = await fixture.athlete()
        const body = JSON.stringify(entries.map(([said, start_date], id) => ({ ...said, id, start_date })))
        const reading = strava.activityList().read({ status: 200, headers: {}, body: Buffer.from(body) })
        assert(reading.outcome === 'ok' && reading.value.items.length === entries.length)
        assert.equal((await fixture.list(athleteId, reading.value.items)).size, entries.length)
        const listed = (await fixture.pages(athleteId, { limit: 7 })).flat().map(each => each.id)
        assert.deepEqual(
          listed,
          (await fixture.rows(athleteId)).map(row => row['id']),
        )
      })
      await fc.assert(property, { numRuns: 30 })
    })

    test('many who store overlapping pages at once store each activity once, and tell of it once', async () => {
      const { summaries, details } = real
      const pages = [summaries, summaries.toReversed(), summaries.slice(30), summaries.slice(0, 60).toReversed()]
      // The embedded store has one connection: there is nothing to meet.
      const rounds = fixture.database.kind === 'postgres' ? 8 : 1
      for (let round = 0; round < rounds; round++) {
        const athleteId = await fixture.athlete()
        const became = await Promise.all(pages.map(page => fixture.list(athleteId, page)))
        assert.equal((await fixture.rows(athleteId)).length, summaries.length)
        const inserted = became.flatMap(page => [...page].filter(([, what]) => what === 'inserted').map(([id]) => id))
        assert.deepEqual(inserted.toSorted(), ids(summaries).toSorted())
        assert.equal((await fixture.events(athleteId)).length, summaries.length)
        // And whoever lists, details and fetches photos of the same activities: nobody waits for ever.
        await Promise.all([
          ...pages.map(page => fixture.list(athleteId, page)),
          fixture.detail(athleteId, details),
          fixture.detail(athleteId, details.toReversed()),
          fixture.photos(athleteId, real.photos),
          fixture.photos(athleteId, new Map([...real.photos].toReversed())),
        ])
        assert.equal((await fixture.activities.counts(athleteId, 'strava')).detailed, details.length)
      }
    })

    test('whatever pages come, in any order and twice, each activity is there once and keeps its detail', async () => {
      const known = real.details.slice(0, 12)
      const page = fc.subarray(
        real.summaries.filter(each => ids(known).includes(each.id)),
        { minLength: 1 },
      )
      const step = fc.oneof(
        page.map(summaries => ({ summaries })),
        fc.subarray(known, { minLength: 1 }).map(details => ({ details })),
      )
      const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async steps => {
        const athleteId = await fixture.athlete()
        const [listed, detailed] = [new Set<string>(), new Set<string>()]
        for (const each of steps) {
          if ('summaries' in each) for (const id of (await fixture.list(athleteId, each.summaries)).keys()) listed.add(id)
          else {
            const stored = await fixture.detail(athleteId, each.details)
            assert.deepEqual(
              stored.toSorted(),
              ids(each.details)
                .filter(id => listed.has(id))
                .toSorted(),
            )
            for (const id of stored) detailed.add(id)
          }
        }
        const rows = await fixture.rows(athleteId)
        assert.deepEqual(rows.map(row => String(row['external_activity_id'])).toSorted(), [...listed].toSorted())
        assert.deepEqual(new Set(rows.filter(row => row['detail'] !== null).map(row => row['external_activity_id'])), detailed)
        assert.deepEqual((await fixture.events(athleteId)).toSorted(), [...listed].map(id => `${IMPORTED} ${id}`).toSorted())
      })
      await fc.assert(property, { numRuns: 25 })
    })
  })
}
