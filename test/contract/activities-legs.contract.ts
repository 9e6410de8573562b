// A multi-sport activity of Garmin's is its legs and their sum: whoever reads sees the legs, and the sum where there are none.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { migrate, migrationsIn, type Database } from '../../src/db/db.ts'
import type { GarminActivity } from '../../src/vendors/vendors.ts'
import { ActivitiesFixture } from './activities-fixture.ts'

const START = 1_760_000_000
const summary = (summaryId: string, more: Partial<GarminActivity>): GarminActivity => ({
  userId: 'u',
  summaryId,
  activityId: `a${summaryId}`,
  startTimeInSeconds: START,
  ...more,
})
const SUM = summary('1', { activityType: 'MULTI_SPORT', distanceInMeters: 51_500, isParent: true })
const LEGS = [
  summary('2', { activityType: 'OPEN_WATER_SWIMMING', distanceInMeters: 1_500, parentSummaryId: '1' }),
  summary('3', { activityType: 'CYCLING', distanceInMeters: 40_000, parentSummaryId: '1', startTimeInSeconds: START + 1_800 }),
  summary('4', { activityType: 'RUNNING', distanceInMeters: 10_000, parentSummaryId: '1', startTimeInSeconds: START + 6_000 }),
]
const IDS = ['a4', 'a3', 'a2']

export function activitiesLegsContract(name: string, open: () => Promise<Database>, openEmpty: () => Promise<Database>): void {
  describe(`multi-sport activities: ${name}`, () => {
    let fixture: ActivitiesFixture
    before(async () => {
      fixture = await ActivitiesFixture.open(open)
    })
    after(async () => {
      await fixture.database.close()
    })

    const store = async (athleteId: string, ...summaries: readonly GarminActivity[]): Promise<void> => {
      await fixture.database.transaction(tx => fixture.activities.storeSummaries(tx, athleteId, 'garmin', summaries))
    }
    const seen = async (athleteId: string): Promise<{ ids: (string | null)[]; meters: number; listed: number }> => {
      const { items } = await fixture.activities.list(athleteId, { limit: 50 })
      const meters = items.reduce((sum, { distanceMeters }) => sum + (distanceMeters ?? 0), 0)
      const { listed } = await fixture.activities.counts(athleteId, 'garmin')
      return { ids: items.map(({ externalId }) => externalId), meters, listed }
    }

    const orders = {
      'before its legs': [SUM, ...LEGS],
      'after its legs': [...LEGS, SUM],
      'between them': [LEGS[0], SUM, LEGS[1], LEGS[2]],
    }
    for (const [order, summaries] of Object.entries(orders)) {
      test(`a triathlon of 51.5 km adds up to 51.5 km, also when its sum comes ${order}`, async () => {
        const athleteId = await fixture.athlete()
        for (const one of summaries) if (one !== undefined) await store(athleteId, one)
        assert.deepEqual(await seen(athleteId), { ids: IDS, meters: 51_500, listed: 3 })
      })
    }

    test('a sum without legs is shown, and is shown again when its legs are deleted', async () => {
      const athleteId = await fixture.athlete()
      await store(athleteId, SUM)
      assert.deepEqual(await seen(athleteId), { ids: ['a1'], meters: 51_500, listed: 1 })
      await store(athleteId, ...LEGS)
      assert.deepEqual((await seen(athleteId)).ids, IDS)
      await fixture.database.transaction(tx => fixture.activities.removeMissing(tx, athleteId, 'garmin', IDS))
      assert.deepEqual(await seen(athleteId), { ids: ['a1'], meters: 51_500, listed: 1 })
    })

    test('legs hide no other athlete’s activity, and none vanishes that names itself or names one that names it', async () => {
      const [one, other] = [await fixture.athlete(), await fixture.athlete()]
      await store(one, ...LEGS)
      await store(
        other,
        SUM,
        summary('5', { parentSummaryId: '5' }),
        summary('6', { parentSummaryId: '7' }),
        summary('7', { parentSummaryId: '6' }),
      )
      assert.deepEqual((await seen(other)).ids.map(String).toSorted(), ['a1', 'a5', 'a6', 'a7'])
    })

    test('the zone is one that has the offset of the start, also for what was stored before', async () => {
      const athleteId = await fixture.athlete()
      await store(athleteId, summary('8', { startTimeOffsetInSeconds: 7_200 }))
      assert.equal((await fixture.row(athleteId, 'a8'))['timezone'], 'Etc/GMT-2')
      await store(athleteId, summary('8', { startTimeOffsetInSeconds: -18_000 }))
      assert.equal((await fixture.row(athleteId, 'a8'))['timezone'], 'Etc/GMT+5')
      const database = await openEmpty()
      try {
        const all = migrationsIn()
        await migrate(
          database,
          all.slice(
            0,
            all.findIndex(migration => migration.name === 'legs'),
          ),
        )
        await database.query("insert into athlete (id, name, created_at) values (gen_random_uuid(), 'Ada', now())")
        await database.query(
          `insert into activity (id, athlete_id, provider, external_activity_id, name, sport, start_time, manual, summary, first_seen_at_utc,
             last_seen_at_utc, updated_at_utc)
           select gen_random_uuid(), a.id, 'garmin', o.said, 'x', 'RUNNING', now(), false,
             jsonb_build_object('startTimeOffsetInSeconds', o.said::integer), now(), now(), now()
           from athlete a, (values ('0'), ('7200'), ('-18000'), ('50400'), ('19800'), ('38700'), ('54000')) as o (said)`,
        )
        await migrate(database)
        const rows = await database.query<{ said: string; zone: string | null }>(
          'select external_activity_id as said, timezone as zone from activity',
        )
        assert.deepEqual(
          new Map(rows.map(({ said, zone }) => [said, zone])),
          new Map([
            ['0', 'Etc/GMT'],
            ['7200', 'Etc/GMT-2'],
            ['-18000', 'Etc/GMT+5'],
            ['50400', 'Etc/GMT-14'],
            ['19800', 'Asia/Kolkata'],
            ['38700', null],
            ['54000', null],
          ]),
        )
      } finally {
        await database.close()
      }
    })
  })
}
