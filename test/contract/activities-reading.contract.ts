// What can be read of stored activities, on every database: lists, one of them, check-ins; and what erasing leaves.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { eraseSome } from '../../src/accounts/accounts.ts'
import { isCursor, type Activity } from '../../src/activities/activities.ts'
import type { Database } from '../../src/db/db.ts'
import { RowBus, streamsOf } from '../../src/events/events.ts'
import { erasers } from '../../src/rooms.ts'
import { ActivitiesFixture, realAnswers, type Answers } from './activities-fixture.ts'

/** More rows than any athlete here has. */
const EVERYTHING = 100_000

export function activitiesReadingContract(name: string, open: () => Promise<Database>): void {
  describe(`reading activities: ${name}`, () => {
    let fixture: ActivitiesFixture
    let real: Answers
    /** With everything; for tests that change nothing. */
    let ada: string
    before(async () => {
      fixture = await ActivitiesFixture.open(open)
      real = await realAnswers()
      ada = await filled()
    })
    after(async () => {
      await fixture.database.close()
    })
    const filled = async (): Promise<string> => {
      const athleteId = await fixture.athlete()
      await fixture.list(athleteId, real.summaries)
      await fixture.detail(athleteId, real.details)
      await fixture.photos(athleteId, real.photos)
      await fixture.database.transaction(tx => fixture.activities.storeCheckins(tx, athleteId, real.checkins))
      return athleteId
    }
    const manual = { sport: 'Yoga', name: 'Stretching', elapsedSeconds: 1800 }
    const externalIds = (items: readonly Activity[]): string[] => items.map(each => String(each.externalId))
    const count = async (table: string, athleteId: string): Promise<unknown> =>
      (await fixture.database.query(`select count(*) from ${table} where athlete_id = $1`, [athleteId]))[0]?.['count']

    test('a list of any page size has every activity once, newest first, those of one start by id', async () => {
      const stored = await fixture.rows(ada)
      const property = fc.asyncProperty(fc.integer({ min: 1, max: 200 }), async limit => {
        const pages = await fixture.pages(ada, { limit })
        assert.deepEqual(
          pages.flat().map(each => each.id),
          stored.map(row => row['id']),
        )
        assert.deepEqual(
          pages.map(page => page.length),
          pages.map((_, at) => (at < pages.length - 1 ? limit : stored.length - limit * (pages.length - 1))),
        )
      })
      await fc.assert(property, { numRuns: 20, examples: [[1], [real.summaries.length], [real.summaries.length - 1]] })
    })

    test('activities that come or go while one reads move nothing: whatever stays is there once', async () => {
      const athleteId = await fixture.athlete()
      const [early, late] = [real.summaries.filter((_, at) => at % 2 === 0), real.summaries.filter((_, at) => at % 2 === 1)]
      await fixture.list(athleteId, early)
      const gone = early.at(-1)?.id ?? ''
      let turn = 0
      const pages = await fixture.pages(athleteId, { limit: 7 }, async () => {
        await fixture.list(athleteId, late.slice(turn * 9, ++turn * 9))
        if (turn === 2) await fixture.remove(athleteId, [gone])
      })
      const found = externalIds(pages.flat())
      assert.equal(new Set(found).size, found.length)
      for (const { id } of early.filter(each => each.id !== gone)) assert(found.includes(id), id)
      assert(!found.includes(gone))
      const starts = pages.flat().map(each => each.start.getTime())
      assert.deepEqual(
        starts,
        starts.toSorted((a, b) => b - a),
      )
    })

    test('a list can be narrowed by sport, time and state of the streams, page by page', async () => {
      const athleteId = await fixture.athlete()
      await fixture.list(athleteId, real.summaries)
      const [newest, oldest] = [real.summaries.at(10)?.start_date ?? '', real.summaries.at(50)?.start_date ?? '']
      const expected = real.summaries.filter(
        each => each.start_date >= oldest && each.start_date < newest && each.sport_type === 'Run',
      )
      assert(expected.length > 5 && expected.length < 40)
      const asked = { limit: 4, sport: 'Run', from: new Date(oldest), to: new Date(newest) }
      const found = externalIds((await fixture.pages(athleteId, asked)).flat())
      assert.deepEqual(found.toSorted(), expected.map(each => each.id).toSorted())
      await fixture.database.query(
        "update activity set stream_fetch_status = 'fetching' where athlete_id = $1 and sport = 'Swim' and not manual",
        [athleteId],
      )
      const fetching = (await fixture.pages(athleteId, { limit: 3, streams: 'fetching' })).flat()
      assert.deepEqual(new Set(fetching.map(each => each.sport)), new Set(['Swim']))
      assert.deepEqual(await fixture.pages(athleteId, { limit: 3, streams: 'success' }), [[]])
    })

    test('an athlete sees their own and nobody else’s', async () => {
      const other = await fixture.athlete()
      const [mine] = (await fixture.activities.list(ada, { limit: 1 })).items
      assert(mine)
      assert.equal((await fixture.activities.read(ada, mine.id))?.id, mine.id)
      assert.equal(await fixture.activities.read(other, mine.id), undefined)
      assert.deepEqual(await fixture.activities.list(other, { limit: 5 }), { items: [], nextCursor: null })
      assert.deepEqual(await fixture.owed(other, 'detail'), [])
    })

    test('an activity is read with its description, laps and photos', async () => {
      const [externalId = '', photos = []] = [...real.photos][0] ?? []
      const row = await fixture.row(ada, externalId)
      const detail = real.details.find(each => each.id === externalId)
      const found = await fixture.activities.read(ada, String(row['id']))
      const [lap] = detail?.laps ?? []
      assert.partialDeepStrictEqual(found, {
        externalId,
        detailed: true,
        streams: 'pending',
        description: detail?.description ?? null,
      })
      assert.equal(found?.laps.length, detail?.laps?.length)
      assert.partialDeepStrictEqual(found?.laps[0], {
        name: lap?.name,
        start: new Date(lap?.start_date ?? '').toISOString(),
        elapsedSeconds: lap?.elapsed_time,
        distanceMeters: lap?.distance,
        startIndex: 0,
      })
      assert.deepEqual(
        found?.photos,
        photos.map(photo => ({
          id: photo.unique_id,
          caption: '',
          urls: photo.urls,
          takenAt: new Date(photo.created_at ?? ''),
          location: photo.location ?? null,
        })),
      )
    })

    test('an entry by hand has no streams, is owed nothing, and the store agrees', async () => {
      const athleteId = await fixture.athlete()
      const made = await fixture.activities.createManual(athleteId, {
        ...manual,
        start: new Date('2026-02-03T04:05:06.789Z'),
        distanceMeters: 0.5,
      })
      const expected = {
        vendor: 'manual',
        externalId: null,
        manual: true,
        detailed: false,
        streams: 'unavailable',
        distanceMeters: 0.5,
      }
      assert.partialDeepStrictEqual(made, { ...expected, ...manual, start: new Date('2026-02-03T04:05:06.789Z'), timezone: null })
      assert.deepEqual((await fixture.activities.list(athleteId, { limit: 5 })).items, [made])
      assert.deepEqual(await fixture.activities.read(athleteId, made.id), { ...made, description: null, laps: [], photos: [] })
      await fixture.activities.createManual(athleteId, { ...manual, start: new Date(0) })
      const pending = fixture.database.query("update activity set stream_fetch_status = 'pending' where id = $1", [made.id])
      await assert.rejects(pending, /activity_streams_need_an_external_id/)
    })

    test('check-ins are stored once, as they were last said, and listed newest first', async () => {
      const athleteId = await fixture.athlete()
      const store = async (checkins: Answers['checkins']): Promise<string[]> =>
        await fixture.database.transaction(tx => fixture.activities.storeCheckins(tx, athleteId, checkins))
      const [first, ...others] = real.checkins
      assert(first)
      assert.equal((await store(others)).length, others.length)
      const odd = { ...first, shout: 'a\0b', timeZoneOffset: 1e12, venue: undefined }
      assert.deepEqual(await store([first, odd, ...others]), [first.id])
      const found: string[] = []
      for (let cursor: string | undefined, more = true; more;) {
        const page = await fixture.activities.checkins(athleteId, { cursor, limit: 7 })
        found.push(...page.items.map(each => each.externalId))
        cursor = page.nextCursor ?? undefined
        more = cursor !== undefined
      }
      assert.deepEqual(
        found,
        real.checkins.toSorted((a, b) => b.createdAt - a.createdAt).map(each => each.id),
      )
      const [newest] = (await fixture.activities.checkins(athleteId, { limit: 1 })).items
      const [said] = real.checkins.toSorted((a, b) => b.createdAt - a.createdAt)
      assert.equal(newest?.at.getTime(), (said?.createdAt ?? 0) * 1000)
    })

    test('a cursor is only what a list gave', async () => {
      const { nextCursor } = await fixture.activities.list(ada, { limit: 1 })
      assert(nextCursor !== null && isCursor(nextCursor) && /^[\w-]+$/.test(nextCursor))
      const made = (text: string): string => Buffer.from(text).toString('base64url')
      const id = '018f3d3e-0000-7000-8000-000000000000'
      for (const wrong of [
        '',
        'x',
        id,
        made(`1 ${id}x`),
        made(`999999999999999 ${id}`),
        made(`-99999999999999 ${id}`),
        made(`1.5 ${id}`),
      ])
        assert(!isCursor(wrong), wrong)
      await assert.rejects(fixture.activities.list(ada, { cursor: 'x', limit: 1 }), /checked where it comes in/)
    })

    test("erasing takes a vendor's activities, photos and check-ins, and what was told or is to be told of them", async () => {
      const [one, other] = [await filled(), await filled()]
      const kept = await fixture.activities.createManual(one, { ...manual, start: new Date(0) })
      const [gone = ''] = real.photos.keys()
      await fixture.remove(one, [gone])
      const bus = new RowBus({ database: fixture.database, clock: fixture.clock, streams: streamsOf(7) })
      for (const athleteId of [one, other]) {
        const data = Buffer.from(JSON.stringify({ athleteId, vendor: 'strava' }))
        await bus.publish([{ subject: 'athlete-ally.activity.imported', id: athleteId, data }])
      }
      const photos = [...real.photos.values()].flat().length - (real.photos.get(gone)?.length ?? 0)
      const now = new Date(fixture.clock.now())
      const erase = async (vendor: string): Promise<Record<string, number>> =>
        (await fixture.database.transaction(tx => eraseSome(erasers, tx, { athleteId: one, vendor, now }, EVERYTHING))).counts
      const none = { activity_stream: 0, activity: 0, activity_photo: 0, checkin: 0, sleep_data: 0 }
      assert.deepEqual(await erase('garmin'), none)
      assert.deepEqual(await erase('strava'), { ...none, activity: real.summaries.length - 1, activity_photo: photos })
      assert.deepEqual(await erase('foursquare'), { ...none, checkin: real.checkins.length })
      assert.deepEqual(
        (await fixture.rows(one)).map(row => row['id']),
        [kept.id],
      )
      const told = await fixture.database.query("select subject from outbox where payload ->> 'athleteId' = $1", [one])
      assert.deepEqual(told, [{ subject: 'athlete-ally.activity.deleted' }])
      assert.deepEqual(await fixture.database.query('select user_id from bus_message'), [{ user_id: other }])
      assert.equal((await fixture.rows(other)).length, real.summaries.length)
      assert.equal(await count('checkin', other), real.checkins.length)
    })

    test('erasing what is older than a date leaves what is younger, by when it happened', async () => {
      const athleteId = await filled()
      const cutoff = real.summaries.at(40)?.start_date ?? ''
      const young = real.summaries.filter(each => each.start_date >= cutoff).map(each => each.id)
      const before = new Date(cutoff)
      const now = new Date(fixture.clock.now())
      const { counts } = await fixture.database.transaction(tx =>
        eraseSome(erasers, tx, { athleteId, vendor: 'strava', before, now }, EVERYTHING),
      )
      assert.equal(counts['activity'], real.summaries.length - young.length)
      const old = [...real.photos].filter(([externalId]) => !young.includes(externalId)).flatMap(([, photos]) => photos)
      assert(old.length > 0 && old.length < [...real.photos.values()].flat().length)
      assert.equal(counts['activity_photo'], old.length)
      assert.deepEqual(
        (await fixture.rows(athleteId)).map(row => String(row['external_activity_id'])).toSorted(),
        young.toSorted(),
      )
      assert.deepEqual((await fixture.events(athleteId)).map(line => String(line.split(' ')[1])).toSorted(), young.toSorted())
      const recent = real.checkins.filter(each => each.createdAt * 1000 >= before.getTime())
      await fixture.database.transaction(tx =>
        eraseSome(erasers, tx, { athleteId, vendor: 'foursquare', before, now }, EVERYTHING),
      )
      assert.equal(await count('checkin', athleteId), recent.length)
      assert(recent.length > 0 && recent.length < real.checkins.length)
    })
  })
}
