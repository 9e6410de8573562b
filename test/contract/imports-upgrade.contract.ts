// Imports that were under way when Paceline was upgraded go on: their cursors are carried over, nothing that is stored is asked for again,
// and nothing is forgotten.
import { after, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { migrate, migrationsIn, type Database } from '../../src/db/db.ts'
import { DAY_MS, HOUR_MS } from '../durations.ts'
import { vendorAt, SIMULATOR_URL } from '../rooms.ts'
import { ImportWorld, type Process } from '../import-world.ts'
import { assertWhole, detailsAsked, idsOf, LIST, stored, WIDE } from './imports-fixture.ts'

const BEFORE = 13
const ACTIVITIES = 12
const COMMON = { activities_imported: 4, photos_imported: 0, page: 1, trouble: 0, faults: 0, seen: [] }
const LISTS = { later: [], changed: [], withoutPhotos: [], laterPhotos: [] }

/** Before every id of today. */
const OLD_IDS: Readonly<Record<string, string>> = {
  strava: '00000000-0000-7000-8000-000000000001',
  garmin: '00000000-0000-7000-8000-000000000002',
  oura: '00000000-0000-7000-8000-000000000003',
  foursquare: '00000000-0000-7000-8000-000000000004',
}

type Cursor = Readonly<Record<string, unknown>>

/** Connecting uses columns and tables that later migrations bring: they are there while it does. */
async function connectOld(the: ImportWorld, process: Process): Promise<void> {
  await the.database.script('alter table connection add look_at timestamptz, add look_tries smallint default 0')
  for (const { name, text } of migrationsIn())
    if (['confirmed-consents', 'erasure'].includes(name)) await the.database.script(text)
  await the.connect(process)
  await the.database.script('drop table pending_consent, consent_turn, erasure')
  await the.database.script('alter table connection drop look_at, drop look_tries')
}

/** Stores the history as the release before did: the list, and the details of the newest four. */
async function storeOld(the: ImportWorld, process: Process): Promise<string[]> {
  const { endpoints } = vendorAt('strava', `${SIMULATOR_URL}/strava`)
  const connection = await process.connections.find(the.athleteId, 'strava')
  const listed = await process.connections.call(connection?.id ?? '', endpoints.activityList(), {
    callClass: 'live',
    athleteId: the.athleteId,
  })
  assert(listed.outcome === 'ok')
  for (const [index, summary] of listed.value.items.entries()) {
    const detailed = index < 4 ? new Date(the.clock.now()) : null
    await the.database.query(
      `insert into activity (id, athlete_id, provider, external_activity_id, name, sport, start_time, manual, photo_count, summary, detail,
         detailed_at, first_seen_at_utc, last_seen_at_utc, updated_at_utc)
       values (gen_random_uuid(), $1, 'strava', $2, $3, 'Run', $4, false, $9, $5::text::jsonb, $6::text::jsonb, $7, $8, $8, $8)`,
      [
        the.athleteId,
        summary.id,
        summary.name,
        summary.start_date,
        JSON.stringify({ ...summary, device_watts: undefined }),
        detailed && '{}',
        detailed,
        new Date(the.clock.now()),
        summary.total_photo_count,
      ],
    )
  }
  return listed.value.items.map(({ id }) => id)
}

interface OldJob {
  readonly vendor: string
  readonly athleteId: string
  readonly cursor: Cursor
  readonly failed?: true
}

async function insertOld(database: Database, { vendor, athleteId, cursor, failed }: OldJob): Promise<void> {
  await database.query(
    `insert into import_jobs (id, athlete_id, vendor, type, status, sync_cursor, total, error, created_at, started_at, updated_at)
     values ($9, $1, $2, $3, $4, $5::text::jsonb, $6, $7, $8, $8, $8)`,
    [
      athleteId,
      vendor,
      'full',
      failed === true ? 'failed' : 'queued',
      JSON.stringify(cursor),
      ACTIVITIES,
      failed === true ? 'Gone' : null,
      new Date(Date.UTC(2026, 2, 10, 6, 1)),
      OLD_IDS[vendor],
    ],
  )
}

export function importsUpgradeContract(name: string, openEmpty: () => Promise<Database>): void {
  describe(`imports across an upgrade: ${name}`, () => {
    const opened: Database[] = []
    after(async () => {
      for (const database of opened) await database.close()
    })
    const old = async (): Promise<Database> => {
      const database = await openEmpty()
      opened.push(database)
      await migrate(database, migrationsIn().slice(0, BEFORE))
      return database
    }

    test('a manual entry that waited for its streams waits no longer; one that was not manual does', async () => {
      const database = await openEmpty()
      opened.push(database)
      const all = migrationsIn()
      const at = all.findIndex(migration => migration.name === 'settled-streams')
      assert(at > 0)
      await migrate(database, all.slice(0, at))
      await database.query("insert into athlete (id, name, created_at) values (gen_random_uuid(), 'Ada', now())")
      for (const status of ['pending', 'failed', 'deferred', 'fetching', 'success'])
        await database.query(
          `insert into activity (id, athlete_id, provider, external_activity_id, name, sport, start_time, manual, summary, first_seen_at_utc,
             last_seen_at_utc, updated_at_utc, stream_fetch_status, stream_fetch_error, stream_fetch_deferred_until)
           select gen_random_uuid(), a.id, 'strava', $1 || m.manual, 'x', 'Run', now(), m.manual, '{}', now(), now(), now(), $1,
             case when $1 in ('failed', 'deferred') then 'busy' end, case when $1 = 'deferred' then now() end
           from athlete a, (values (true), (false)) as m (manual)`,
          [status],
        )
      await migrate(database)
      const rows = await database.query<{ was: string; now: string }>(
        'select external_activity_id as was, stream_fetch_status as now from activity',
      )
      const moved = Object.fromEntries(rows.map(({ was, now }) => [was, now]))
      for (const status of ['pending', 'failed', 'deferred', 'fetching']) {
        assert.equal(moved[`${status}true`], 'unavailable', status)
        assert.equal(moved[`${status}false`], status)
      }
      assert.equal(moved['successtrue'], 'success')
    })

    const cases: Record<string, { cursor: (ids: string[]) => Cursor; asked: (ids: string[]) => string[]; pages?: number }> = {
      'in its list': {
        cursor: () => ({
          ...COMMON,
          ...LISTS,
          phase: 'list',
          before: 2_000_000_000,
          listedAt: Date.UTC(2026, 2, 10, 6, 1) / 1000,
        }),
        asked: ids => ids.slice(4),
        pages: 2,
      },
      'in its details': {
        cursor: ids => ({ ...COMMON, ...LISTS, phase: 'details', later: [ids[4]], changed: [ids[1]] }),
        asked: ids => [ids[1] ?? '', ...ids.slice(5), ids[4] ?? ''],
        pages: 0,
      },
      'in its second tries': {
        cursor: ids => ({ ...COMMON, ...LISTS, phase: 'again', later: ids.slice(5) }),
        asked: ids => ids.slice(4),
        pages: 0,
      },
    }
    for (const [where, { cursor, asked, pages }] of Object.entries(cases)) {
      test(`a Strava import ${where} goes on`, async () => {
        const the = new ImportWorld(await old(), { activities: ACTIVITIES, ...WIDE })
        await the.run(async () => {
          const process = the.process()
          await connectOld(the, process)
          const ids = await storeOld(the, process)
          await insertOld(the.database, { vendor: 'strava', athleteId: the.athleteId, cursor: cursor(ids) })
          await migrate(the.database)
          the.asked.length = 0
          await process.start()
          const view = await the.untilDone(process)
          await process.stop()
          assert.equal(view.job.status, 'completed')
          assert.deepEqual(view.problems, [])
          assert.deepEqual(detailsAsked(the), asked(ids))
          assert.equal(the.requests(LIST).length, pages)
          assert.equal(view.message, `Completed: ${ACTIVITIES} activities imported`)
          assert.deepEqual(idsOf(await stored(the)), ids)
        })
        await assertWhole(the, ACTIVITIES)
      })
    }

    test('a failed one is taken over', async () => {
      const the = new ImportWorld(await old(), { activities: ACTIVITIES, ...WIDE })
      await the.run(async () => {
        const process = the.process()
        await connectOld(the, process)
        const ids = await storeOld(the, process)
        await insertOld(the.database, {
          vendor: 'strava',
          athleteId: the.athleteId,
          cursor: { ...COMMON, ...LISTS, phase: 'details' },
          failed: true,
        })
        await migrate(the.database)
        await process.imports.start(the.athleteId, 'strava', { type: 'full' })
        await process.start()
        assert.equal((await the.untilDone(process)).message, `Completed: ${ACTIVITIES} activities imported`)
        await process.stop()
        assert.deepEqual(detailsAsked(the), ids.slice(4))
      })
    })

    test('whole lists are due within the week, not all at once, also of those whose full import was pruned', async () => {
      const database = await old()
      const ids = ['a', 'b', 'c', 'd'].map(letter => `00000000-0000-7000-8000-00000000000${letter}`)
      const at = new Date(Date.UTC(2026, 2, 10))
      for (const [index, id] of ids.entries()) {
        await database.query("insert into athlete (id, name, created_at) values ($1, 'Ada', now())", [id])
        await database.query(
          `insert into import_jobs (id, athlete_id, vendor, type, status, sync_cursor, created_at, finished_at, updated_at)
           values ($1, $1, 'strava', $2, 'completed', '{}', $3, $3, $3)`,
          [id, index === 3 ? 'incremental' : 'full', at],
        )
      }
      await migrate(database)
      const due = await database.query<{ at: Date }>('select next_full_at as at from import_jobs order by next_full_at')
      assert.deepEqual(
        due.map(row => (row.at.getTime() - at.getTime()) / DAY_MS),
        [1.75, 3.5, 5.25, 7],
      )
    })

    /** A store with the migrations before this one. */
    const before = async (migration: string): Promise<Database> => {
      const database = await openEmpty()
      opened.push(database)
      const all = migrationsIn()
      const count = all.findIndex(({ name: called }) => called === migration)
      await migrate(database, all.slice(0, count))
      return database
    }

    test('turns become lanes, with what they owe; who had no turn starts where the others stand', async () => {
      const database = await before('work')
      const passes = [50, 60, undefined]
      for (const [index, pass] of passes.entries()) {
        const id = `00000000-0000-7000-8000-00000000000${index}`
        await database.query("insert into athlete (id, name, created_at) values ($1, 'Ada', now())", [id])
        await database.query(
          `insert into activity (id, athlete_id, provider, external_activity_id, name, sport, start_time, manual, summary,
             first_seen_at_utc, last_seen_at_utc, updated_at_utc)
           select gen_random_uuid(), $1, 'strava', $2::text || n, 'Run', 'Run', now(), false, '{}', now(), now(), now()
           from generate_series(1, 3) as n`,
          [id, `1${index}`],
        )
        if (pass !== undefined)
          await database.query(
            "insert into quota_turn (vendor, athlete_id, rank, pass, present_until) values ('strava', $1, 1, $2, now())",
            [id, pass],
          )
      }
      await migrate(database)
      const rows = await database.query('select served, owed, due_at is not null as due from work_lane order by athlete_id')
      assert.deepEqual(
        rows,
        [50, 60, 50].map(served => ({ served, owed: 3, due: true })),
      )
      assert.deepEqual(await database.query("select pass from work_gate where class = 'backfill'"), [{ pass: 50 }])
    })

    test('who was imported is looked at in the order of before, who never was at once; nobody is forgotten', async () => {
      const database = await before('looks')
      const consented = Date.UTC(2026, 2, 1)
      const hours = (count: number): Date => new Date(consented + count * HOUR_MS)
      const old: readonly { synced?: number; heard?: number; tried?: number; looks: readonly [hours: number, tries: number] }[] =
        [
          { looks: [0, 0] },
          { synced: -5, looks: [0, 0] },
          { tried: 3, looks: [3.5, 1] },
          { synced: 6, tried: 6, looks: [6.5, 1] },
          { synced: 6, tried: 8, looks: [8.5, 1] },
          { synced: 6, heard: 7, looks: [30, 1] },
          { synced: 40, heard: 7, looks: [40.5, 1] },
        ]
      for (const [index, { synced: syncedAt, heard, tried }] of old.entries()) {
        const id = `00000000-0000-7000-8000-00000000000${index}`
        await database.query("insert into athlete (id, name, created_at) values ($1, 'Ada', now())", [id])
        await database.query(
          `insert into connection (id, athlete_id, vendor, vendor_athlete_id, status, scopes, access_token, connected_at, consented_at,
             last_sync_at, webhook_heard_at)
           values ($1::uuid, $1::uuid, 'strava', $1::text, 'active', '{}', '', $2, $2, $3, $4)`,
          [id, hours(0), syncedAt === undefined ? null : hours(syncedAt), heard === undefined ? null : hours(heard)],
        )
        if (tried !== undefined)
          await database.query(
            `insert into import_jobs (id, athlete_id, vendor, type, status, sync_cursor, error, created_at, updated_at)
             values ($1, $1, 'strava', 'full', 'failed', '{}', 'Gone', $2, $2)`,
            [id, hours(tried)],
          )
      }
      await migrate(database)
      const rows = await database.query<{ at: Date; tries: number }>(
        'select look_at as at, look_tries as tries from connection order by id',
      )
      assert.deepEqual(
        rows.map(({ at, tries }) => [(at.getTime() - consented) / HOUR_MS, tries]),
        old.map(({ looks }) => looks),
      )
    })

    const translated: Record<string, { vendor: string; was: Cursor; is: Cursor }> = {
      'of nights': {
        vendor: 'oura',
        was: { ...COMMON, ...LISTS, phase: 'list', from: 1_770_000_000, before: 1_760_000_000, heard: 90 },
        is: { newest: 1_770_000_000, before: 1_760_000_000, heard: 90, nights_imported: 4, trouble: 0, faults: 0 },
      },
      'of check-ins': {
        vendor: 'foursquare',
        was: { ...COMMON, ...LISTS, phase: 'again', page: 3, from: 1_770_000_000, before: 1_760_000_000 },
        is: {
          newest: 1_770_000_000,
          before: 1_760_000_000,
          page: 3,
          walk: 'number',
          checkins_imported: 4,
          trouble: 0,
          faults: 0,
        },
      },
      'of Garmin': {
        vendor: 'garmin',
        was: {
          ...COMMON,
          ...LISTS,
          phase: 'list',
          from: 1_770_000_000,
          before: 1_760_000_000,
          known: 3,
          heard: 7,
          granted: true,
          page: 2,
        },
        is: {
          phase: 'ask',
          newest: 1_770_000_000,
          granted: true,
          known: 3,
          heard: 7,
          activities_imported: 4,
          trouble: 0,
          faults: 0,
          owed: ['activities', 'activityDetails', 'sleeps'].map(type => ({
            type,
            from: 1_770_000_000 - 5 * 365 * 86_400,
            to: 1_760_000_000,
          })),
        },
      },
    }
    test('the cursors of the other vendors take their own fields', async () => {
      const database = await old()
      const [athlete] = await database.query<{ id: string }>(
        "insert into athlete (id, name, created_at) values (gen_random_uuid(), 'Ada', now()) returning id",
      )
      for (const { vendor, was } of Object.values(translated))
        await insertOld(database, { vendor, athleteId: athlete?.id ?? '', cursor: was })
      await migrate(database)
      const rows = await database.query<{ vendor: string; sync_cursor: Cursor }>('select vendor, sync_cursor from import_jobs')
      const cursors = new Map(rows.map(row => [row.vendor, row.sync_cursor]))
      for (const [what, { vendor, is }] of Object.entries(translated)) assert.deepEqual(cursors.get(vendor), is, what)
    })
  })
}
