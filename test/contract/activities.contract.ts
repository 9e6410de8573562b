// Storing what vendors said, on every database: each activity once, nothing thrown away, rows and events together or not at all.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Database } from '../../src/db/db.ts'
import type { GarminActivity, StravaActivity, StravaActivityDetail } from '../../src/vendors/vendors.ts'
import { ActivitiesFixture, realAnswers, type Answers } from './activities-fixture.ts'

const IMPORTED = 'athlete-ally.activity.imported'
const DELETED = 'athlete-ally.activity.deleted'

export function activitiesContract(name: string, open: () => Promise<Database>): void {
  describe(`storing activities: ${name}`, () => {
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
    const all = <T>(list: readonly string[], value: T): Map<string, T> => new Map(list.map(id => [id, value]))
    const detailOf = (at = 0): StravaActivityDetail => {
      const detail = real.details.filter(each => (each.laps?.length ?? 0) > 0 && each.splits_metric)[at]
      assert(detail)
      return detail
    }

    test("the vendor's list is what these suites think it is", () => {
      const { summaries, photos, details, checkins } = real
      assert(summaries.every(each => BigInt(each.id) > 2n ** 53n))
      for (const field of ['manual', 'private'] as const)
        assert(
          summaries.some(each => each[field] === true),
          field,
        )
      assert(summaries.some(each => each.start_latlng === undefined) && summaries.some(each => each.start_latlng))
      assert(summaries.some(each => !Number.isInteger(each.distance ?? 0)))
      assert(summaries.some((each, at) => each.start_date === summaries[at + 1]?.start_date))
      assert(photos.size > 3 && details.some(each => each.description) && checkins.length > 20)
    })

    test('a page is stored as it was said: 64-bit ids, decimals, missing coordinates', async () => {
      const athleteId = await fixture.athlete()
      assert.deepEqual(await fixture.list(athleteId, real.summaries), all(ids(real.summaries), 'inserted'))
      const rows = new Map((await fixture.rows(athleteId)).map(row => [row['external_activity_id'], row]))
      for (const said of real.summaries) {
        assert.partialDeepStrictEqual(rows.get(said.id), {
          provider: 'strava',
          name: said.name,
          sport: said.sport_type,
          start_time: new Date(said.start_date),
          timezone: said.timezone,
          elapsed_seconds: said.elapsed_time,
          moving_seconds: said.moving_time,
          distance_meters: said.distance,
          manual: said.manual,
          photo_count: said.total_photo_count,
          stream_fetch_status: said.manual === true ? 'unavailable' : 'pending',
          detailed_at: null,
          summary: JSON.parse(JSON.stringify(said)),
        })
      }
      assert.equal(rows.size, real.summaries.length)
    })

    test('the same page again changes nothing but when it was last seen', async () => {
      const athleteId = await fixture.athlete()
      await fixture.list(athleteId, real.summaries)
      const first = await fixture.rows(athleteId)
      const now = await fixture.later()
      assert.deepEqual(await fixture.list(athleteId, real.summaries), all(ids(real.summaries), 'unchanged'))
      assert.deepEqual(
        await fixture.rows(athleteId),
        first.map(row => ({ ...row, last_seen_at_utc: now })),
      )
      assert.equal((await fixture.events(athleteId)).length, real.summaries.length)
    })

    test('a summary that changed is stored, and detail, laps, splits and photos stay', async () => {
      const athleteId = await fixture.athlete()
      const [[externalId, photos] = ['', []]] = real.photos
      const detail = real.details.find(each => each.id === externalId)
      assert(detail)
      await fixture.list(athleteId, real.summaries)
      await fixture.detail(athleteId, [detail])
      await fixture.photos(athleteId, new Map([[externalId, photos]]))
      const stored = await fixture.row(athleteId, externalId)
      const now = await fixture.later()
      const changed = {
        name: 'Renamed',
        sport_type: 'Hike',
        start_date: '2026-01-01T10:00:00Z',
        elapsed_time: 61,
        distance: 1.25,
      }
      const page = real.summaries.map(each => (each.id === externalId ? { ...each, ...changed } : each))
      const became = await fixture.list(athleteId, page)
      assert.deepEqual(
        [...became].filter(([, what]) => what !== 'unchanged'),
        [[externalId, 'changed']],
      )
      assert.deepEqual(await fixture.row(athleteId, externalId), {
        ...stored,
        name: 'Renamed',
        sport: 'Hike',
        start_time: new Date(changed.start_date),
        elapsed_seconds: 61,
        distance_meters: 1.25,
        summary: JSON.parse(JSON.stringify(page.find(each => each.id === externalId))),
        detail_stale: true,
        last_seen_at_utc: now,
        updated_at_utc: now,
      })
      assert.equal((await fixture.activities.read(athleteId, String(stored['id'])))?.photos.length, photos.length)
      assert.equal((await fixture.events(athleteId)).length, real.summaries.length)
    })

    test('what a summary does not mention stays as it was', async () => {
      const athleteId = await fixture.athlete()
      const [said] = real.summaries
      assert(said)
      await fixture.list(athleteId, [said])
      const stored = await fixture.row(athleteId, said.id)
      assert.deepEqual(await fixture.list(athleteId, [{ id: said.id, start_date: said.start_date }]), all([said.id], 'changed'))
      assert.partialDeepStrictEqual(await fixture.row(athleteId, said.id), {
        ...stored,
        summary: { id: said.id, start_date: said.start_date },
      })
    })

    test('of two with one id on a page the later counts', async () => {
      const athleteId = await fixture.athlete()
      const [one, two] = real.summaries
      assert(one && two)
      const stored = await fixture.list(athleteId, [one, two, { ...one, name: 'Later' }])
      assert.deepEqual(stored, all([one.id, two.id], 'inserted'))
      assert.equal((await fixture.row(athleteId, one.id))['name'], 'Later')
    })

    test('an odd value costs itself, not the page', async () => {
      const athleteId = await fixture.athlete()
      const start_date = '2026-01-01T00:00:00Z'
      const odd: StravaActivity[] = [
        { id: 'nul', start_date, name: 'a\0b \\u0000 \\', map: { polyline: '\0' } },
        { id: 'half', start_date, name: '\ud83d \u{1f3c3} \ude00' },
        { id: 'huge', start_date, elapsed_time: 1e300, moving_time: 2 ** 31, distance: 1e308, total_photo_count: 1e10 },
        { id: 'early', start_date: '0000-01-01T00:00:00+14:00' },
        { id: 'late', start_date: '9999-12-31T23:59:59-14:00' },
        { id: 'fine', start_date: '2026-01-01T00:00:00.123456Z', distance: 0.1 + 0.2 },
        { id: "'); drop table activity; --".replaceAll(/\W/g, '.'), start_date, name: "'); drop table activity; --" },
      ]
      assert.deepEqual(await fixture.list(athleteId, odd), all(ids(odd), 'inserted'))
      assert.equal((await fixture.row(athleteId, 'nul'))['name'], 'ab \\u0000 \\')
      assert.equal((await fixture.row(athleteId, 'half'))['name'], '\u{fffd} \u{1f3c3} \u{fffd}')
      const said = { elapsed_seconds: null, moving_seconds: null, distance_meters: 1e308, photo_count: 0 }
      assert.partialDeepStrictEqual(await fixture.row(athleteId, 'huge'), { ...said, name: 'Untitled', sport: 'Workout' })
      assert.partialDeepStrictEqual(await fixture.row(athleteId, 'fine'), {
        start_time: new Date('2026-01-01T00:00:00.123Z'),
        distance_meters: 0.1 + 0.2,
      })
      assert.equal((await fixture.pages(athleteId, { limit: 2 })).flat().length, odd.length)
    })

    test('rows and events are committed together, or not at all', async () => {
      const athleteId = await fixture.athlete()
      const page = real.summaries.slice(0, 5)
      const failing = fixture.database.transaction(async tx => {
        await fixture.activities.storeSummaries(tx, athleteId, 'strava', page)
        throw new Error('the cursor could not be saved')
      })
      await assert.rejects(failing, /cursor/)
      assert.deepEqual([await fixture.rows(athleteId), await fixture.events(athleteId)], [[], []])
      await fixture.list(athleteId, page)
      assert.deepEqual((await fixture.events(athleteId)).toSorted(), page.map(each => `${IMPORTED} ${each.id}`).toSorted())
      const [first] = page
      const [told] = await fixture.database.query(
        "select payload from outbox where payload ->> 'athleteId' = $1 and payload ->> 'externalId' = $2",
        [athleteId, first?.id],
      )
      const row = await fixture.row(athleteId, first?.id ?? '')
      assert.deepEqual(told?.['payload'], {
        activityId: row['id'],
        athleteId,
        vendor: 'strava',
        externalId: first?.id,
        name: first?.name,
        sport: first?.sport_type,
        start: new Date(first?.start_date ?? '').toISOString(),
      })
    })

    test('a detail is stored with laps and splits apart, and is newer than the summary', async () => {
      const athleteId = await fixture.athlete()
      const {
        laps,
        splits_metric: metric,
        splits_standard: standard,
        ...detail
      } = { ...detailOf(), name: 'Newer', description: 'x' }
      await fixture.list(athleteId, real.summaries)
      assert.deepEqual(await fixture.detail(athleteId, [{ ...detailOf(), name: 'Newer', description: 'x' }]), [detail.id])
      const row = await fixture.row(athleteId, detail.id)
      const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
      assert.deepEqual(
        [row['detail'], row['laps'], row['splits'], row['description'], row['name'], row['detailed_at']],
        [json(detail), json(laps), json({ metric, standard }), 'x', 'Newer', new Date(fixture.clock.now())],
      )
    })

    test('a detail brings back nothing that was deleted', async () => {
      const athleteId = await fixture.athlete()
      const [one, two] = [detailOf(0), detailOf(1)]
      await fixture.list(athleteId, real.summaries)
      await fixture.remove(athleteId, [one.id])
      assert.deepEqual(await fixture.detail(athleteId, [one, two]), [two.id])
      assert.equal((await fixture.rows(athleteId)).length, real.summaries.length - 1)
    })

    test('a detail can stand for its summary, and both are stored as if the list had come first', async () => {
      const [one, other] = [await fixture.athlete(), await fixture.athlete()]
      const detail = detailOf()
      await fixture.list(one, [detail])
      const { summary } = await fixture.row(one, detail.id)
      await fixture.list(other, real.summaries)
      const listed = (await fixture.row(other, detail.id))['summary'] as object
      assert.partialDeepStrictEqual(summary, { ...listed, map: {} })
      for (const field of ['laps', 'splits_metric', 'description', 'photos']) assert(!(field in (summary as object)), field)
    })

    test('a later detail without laps does not take them away, one without a description does', async () => {
      const athleteId = await fixture.athlete()
      const detail = { ...detailOf(), description: 'x' }
      const { laps, splits_metric, splits_standard, ...bare } = { ...detail, description: null }
      await fixture.list(athleteId, real.summaries)
      await fixture.detail(athleteId, [detail])
      await fixture.detail(athleteId, [bare])
      const row = await fixture.row(athleteId, detail.id)
      assert.deepEqual([(row['laps'] as unknown[]).length, row['description']], [laps?.length, null])
      assert.deepEqual(row['splits'], { metric: splits_metric, standard: splits_standard })
    })

    test('what the vendor no longer has goes with its photos, for this athlete only, and is told once', async () => {
      const [one, other] = [await fixture.athlete(), await fixture.athlete()]
      const [externalId = ''] = real.photos.keys()
      for (const athleteId of [one, other]) {
        await fixture.list(athleteId, real.summaries)
        await fixture.photos(athleteId, real.photos)
      }
      const photosLeft = async (): Promise<unknown> =>
        (
          await fixture.database.query(
            'select count(*) from activity_photo p join activity a on a.id = activity_id where athlete_id = $1',
            [one],
          )
        )[0]?.['count']
      const before = Number(await photosLeft())
      assert.deepEqual(await fixture.remove(one, [externalId, '404']), [externalId])
      assert.deepEqual(await fixture.remove(one, [externalId]), [])
      assert.equal(await photosLeft(), before - (real.photos.get(externalId)?.length ?? 0))
      assert.deepEqual((await fixture.events(one)).slice(real.summaries.length), [`${DELETED} ${externalId}`])
      assert.equal((await fixture.rows(other)).length, real.summaries.length)
    })

    test("one id at two vendors is two activities, and Garmin's grow as the watch syncs on", async () => {
      const athleteId = await fixture.athlete()
      const run: GarminActivity = {
        userId: 'u',
        summaryId: 's',
        activityId: '7',
        activityType: 'RUNNING',
        startTimeInSeconds: 1_760_000_000,
      }
      const garmin = async (activity: GarminActivity): Promise<Map<string, string>> =>
        await fixture.database.transaction(tx => fixture.activities.storeSummaries(tx, athleteId, 'garmin', [activity]))
      await fixture.list(athleteId, [{ id: '7', start_date: '2026-01-01T00:00:00Z' }])
      assert.deepEqual(await garmin(run), all(['7'], 'inserted'))
      assert.deepEqual(await garmin({ ...run, distanceInMeters: 4976.83, durationInSeconds: 1789 }), all(['7'], 'changed'))
      const { items } = await fixture.activities.list(athleteId, { limit: 9 })
      assert.deepEqual(
        items.map(each => [each.vendor, each.distanceMeters, each.elapsedSeconds]),
        [
          ['strava', null, null],
          ['garmin', 4976.83, 1789],
        ],
      )
    })

    test('too many at once is a mistake of ours', async () => {
      const athleteId = await fixture.athlete()
      const many = Array.from({ length: 201 }, (_, n) => ({ id: String(n), start_date: '2026-01-01T00:00:00Z' }))
      await assert.rejects(fixture.list(athleteId, many), /at most 200/)
      await assert.rejects(fixture.detail(athleteId, many.slice(0, 51)), /at most 50/)
      assert.equal((await fixture.list(athleteId, many.slice(0, 200))).size, 200)
      assert.equal((await fixture.list(athleteId, [])).size, 0)
    })
  })
}
