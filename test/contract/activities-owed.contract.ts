// What imports still have to fetch of stored activities, on every database: in which order, how often, and how it is found.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Database } from '../../src/db/db.ts'
import { DAY_MS } from '../durations.ts'
import { ActivitiesFixture, realAnswers, type Answers } from './activities-fixture.ts'
import { planOf } from './lifecycle.contract.ts'

export function activitiesOwedContract(name: string, open: () => Promise<Database>): void {
  describe(`what is owed of activities: ${name}`, () => {
    let fixture: ActivitiesFixture
    let real: Answers
    before(async () => {
      fixture = await ActivitiesFixture.open(open)
      real = await realAnswers()
    })
    after(async () => {
      await fixture.database.close()
    })
    const manual = { sport: 'Yoga', name: 'Stretching', elapsedSeconds: 1800 }

    test('what is owed is what has no detail, newest first', async () => {
      const athleteId = await fixture.athlete()
      await fixture.list(athleteId, real.summaries)
      const newest = (await fixture.rows(athleteId)).map(row => String(row['external_activity_id']))
      assert.deepEqual(await fixture.owed(athleteId, 'detail'), newest)
      await fixture.detail(athleteId, real.details)
      const detailed = new Set(real.details.map(each => each.id))
      const without = newest.filter(id => !detailed.has(id))
      assert.deepEqual(await fixture.owed(athleteId, 'detail'), without)
      await fixture.activities.createManual(athleteId, { ...manual, start: new Date(0) })
      assert.deepEqual(await fixture.owed(athleteId, 'detail'), without)
    })

    test('what failed once in an import is owed once more at its end; what failed twice is left alone, by polls for a day', async () => {
      const athleteId = await fixture.athlete()
      await fixture.list(athleteId, real.summaries.slice(0, 2))
      const rows = await fixture.rows(athleteId)
      const [first = '', second = ''] = rows.map(row => String(row['external_activity_id']))
      const startOf = (externalId: string): unknown =>
        rows.find(row => row['external_activity_id'] === externalId)?.['start_time']
      const began = await fixture.later()
      const next = async (retryBefore = began): Promise<unknown> =>
        await fixture.activities.owed.detail(athleteId, 'strava', { began, retryBefore, backoff: '0', cutoff: undefined })
      const fails = async (externalId: string): Promise<void> => {
        const failure = { what: 'detail', externalId, began, isFinal: false } as const
        await fixture.database.transaction(tx => fixture.activities.owed.failed(tx, athleteId, 'strava', failure))
      }
      const owed = (externalId: string, hasFailed: boolean) => ({
        externalId,
        start: startOf(externalId),
        isMissing: false,
        hasFailed,
      })
      assert.deepEqual(await next(), owed(first, false))
      await fails(first)
      assert.deepEqual(await next(), owed(second, false))
      await fails(second)
      assert.deepEqual(await next(), owed(first, true))
      await fails(first)
      await fails(second)
      assert.equal(await next(), undefined)
      const now = await fixture.later()
      assert.deepEqual(await fixture.owed(athleteId, 'detail'), [first, second])
      const poll = { began: new Date(now.getTime() + 60_000), retryBefore: began, backoff: '0', cutoff: undefined }
      assert.equal(await fixture.activities.owed.detail(athleteId, 'strava', poll), undefined)
    })

    test('what every import gives up is left alone longer each time by polls, and asked for at once by a full one', async () => {
      const athleteId = await fixture.athlete()
      await fixture.list(athleteId, real.summaries.slice(0, 1))
      const days = async (count: number): Promise<Date> => {
        await fixture.clock.runUntil(fixture.clock.sleep(count * DAY_MS))
        return new Date(fixture.clock.now())
      }
      const isOwed = async (now: Date, backoff: string): Promise<boolean> => {
        const bounds = { began: now, retryBefore: new Date(now.getTime() - DAY_MS), backoff, cutoff: undefined }
        return (await fixture.activities.owed.detail(athleteId, 'strava', bounds)) !== undefined
      }
      for (const pause of [1, 2, 4, 8]) {
        await fixture.owed(athleteId, 'detail')
        const early = await days(pause * 0.9)
        assert.deepEqual(
          [await isOwed(early, '1 day'), await isOwed(early, '0')],
          [false, pause > 1],
          `after ${pause * 0.9} days`,
        )
        assert.equal(await isOwed(await days(pause * 0.2), '1 day'), true, `after ${pause * 1.1} days`)
      }
      await fixture.list(
        athleteId,
        real.summaries.slice(0, 1).map(each => ({ ...each, name: 'Renamed' })),
      )
      assert.equal(await isOwed(new Date(fixture.clock.now()), '1 day'), true)
    })

    test('a detail that is to be fetched again counts as owed', async () => {
      const athleteId = await fixture.athlete()
      await fixture.list(athleteId, real.summaries)
      await fixture.detail(athleteId, real.details)
      const owed = async (): Promise<number> => (await fixture.activities.counts(athleteId, 'strava')).detailsOwed
      const before = await owed()
      const detailed = new Set(real.details.map(each => each.id))
      await fixture.list(
        athleteId,
        real.summaries.map(each => (detailed.has(each.id) ? { ...each, name: 'Renamed' } : each)),
      )
      assert.equal(await owed(), before + detailed.size)
    })

    test('an activity is looked for when the list says it began; an odd date keeps no other from being found', async () => {
      const athleteId = await fixture.athlete()
      const [said] = real.details
      assert(said)
      const odd = { id: 'early', start_date: '0000-01-01T00:00:00+14:00' }
      await fixture.list(athleteId, [said, odd])
      const late = new Date(Date.parse(said.start_date) + 5_000).toISOString()
      await fixture.detail(athleteId, [{ ...said, start_date: late }])
      await fixture.list(athleteId, [{ ...said, name: 'Renamed' }])
      const began = await fixture.later()
      const bounds = { began, retryBefore: began, backoff: '0', cutoff: undefined }
      const owed = await fixture.activities.owed.detail(athleteId, 'strava', bounds)
      assert.deepEqual([owed?.externalId, owed?.start], [said.id, new Date(said.start_date)])
      assert.deepEqual(await fixture.owed(athleteId, 'detail'), [said.id, 'early'])
    })

    test('a process whose clock is behind asks no more often for what fails', async () => {
      const athleteId = await fixture.athlete()
      await fixture.list(athleteId, real.summaries.slice(0, 1))
      const began = new Date((await fixture.later()).getTime() + 120_000)
      const bounds = { began, retryBefore: began, backoff: '0', cutoff: undefined }
      let asked = 0
      for (; asked < 9; asked++) {
        const owed = await fixture.activities.owed.detail(athleteId, 'strava', bounds)
        if (owed === undefined) break
        const failure = { what: 'detail', externalId: owed.externalId, began, isFinal: false } as const
        await fixture.database.transaction(tx => fixture.activities.owed.failed(tx, athleteId, 'strava', failure))
      }
      assert.equal(asked, 2)
    })

    test('what is owed is found by its indexes', async () => {
      const mine = "athlete_id = '00000000-0000-7000-8000-000000000000' and provider = 'strava'"
      const newest = 'order by start_time desc, id desc limit 1'
      const detail = 'detail_is_owed(detailed_at, detail_stale, missing_since, missing_asked)'
      const photos = 'photos_are_owed(detailed_at, photo_count, photos_synced_at)'
      const plan = async (owed: string): Promise<string> =>
        await planOf(fixture.database, `select from activity where ${mine} and ${owed} ${newest}`)
      assert.match(await plan(detail), /activity_owed/)
      assert.match(await plan(photos), /activity_photos_owed/)
    })

    test('what is older than the cutoff is not owed', async () => {
      const athleteId = await fixture.athlete()
      await fixture.list(athleteId, real.summaries)
      const began = await fixture.later()
      const [newest] = await fixture.rows(athleteId)
      assert(newest?.['start_time'] instanceof Date)
      const cutoff = new Date(newest['start_time'].getTime() + 1)
      const bounds = { began, retryBefore: began, backoff: '0', cutoff }
      assert.equal(await fixture.activities.owed.detail(athleteId, 'strava', bounds), undefined)
      const kept = await fixture.activities.owed.detail(athleteId, 'strava', {
        ...bounds,
        cutoff: newest['start_time'],
      })
      assert.equal(kept?.externalId, newest['external_activity_id'])
    })

    test('photos are owed once there is a detail, until they are fetched, and again when their number changes', async () => {
      const athleteId = await fixture.athlete()
      const counts = async (): Promise<number[]> => {
        const { listed, detailed, photosOwed, photosSynced } = await fixture.activities.counts(athleteId, 'strava')
        return [listed, detailed, photosOwed, photosSynced]
      }
      const owed = async (): Promise<string[]> => await fixture.owed(athleteId, 'photos')
      const [all, details, withPhotos] = [real.summaries.length, real.details.length, real.photos.size]
      await fixture.list(athleteId, real.summaries)
      assert.deepEqual([await counts(), await owed()], [[all, 0, withPhotos, 0], []], 'the list tells how many will be')
      await fixture.detail(athleteId, real.details)
      assert.deepEqual(await counts(), [all, details, withPhotos, 0])
      const first = (await owed())[0] ?? ''
      assert.deepEqual(new Set(await owed()), new Set(real.photos.keys()))
      assert.deepEqual(
        (await fixture.photos(athleteId, new Map([...real.photos, ['404', []]]))).toSorted(),
        [...real.photos.keys()].toSorted(),
      )
      assert.deepEqual([await counts(), await owed()], [[all, details, 0, withPhotos], []])
      await fixture.list(athleteId, real.summaries)
      assert.deepEqual(await owed(), [])
      await fixture.list(
        athleteId,
        real.summaries.map(each => (each.id === first ? { ...each, total_photo_count: 9 } : each)),
      )
      assert.deepEqual([await counts(), await owed()], [[all, details, 1, withPhotos - 1], [first]])
      const { id } = await fixture.row(athleteId, first)
      const kept = async (): Promise<unknown> =>
        (await fixture.activities.read(athleteId, String(id)))?.photos.map(each => each.id)
      assert.deepEqual(
        await kept(),
        real.photos.get(first)?.map(each => each.unique_id),
      )
      const [photo] = real.photos.get(first) ?? []
      assert(photo)
      const other = { ...photo, unique_id: 'OTHER', location: undefined, created_at: undefined }
      await fixture.photos(athleteId, new Map([[first, [other, { ...other, caption: 'twice' }]]]))
      assert.deepEqual([await kept(), await owed()], [['OTHER'], []])
    })
  })
}
