// Imports at a closed gate, on every database: all that were being served wait by one statement, and each shows why and until when.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Database } from '../../src/db/db.ts'
import type { Imports } from '../../src/imports/imports.ts'
import type { Gate } from '../../src/work/work.ts'
import { MINUTE_MS } from '../durations.ts'
import { roomsOn } from '../rooms.ts'
import { NOON, workFixtures, type WorkFixture } from './work-fixture.ts'

const IMPORTS = 200
const OPENS_AT = NOON + 10 * MINUTE_MS
const CLOSED: Gate = {
  vendor: 'strava',
  callClass: 'backfill',
  cause: 'limit',
  pool: 'read',
  window: '15min',
  opensAt: new Date(OPENS_AT),
}

interface Wait {
  readonly athleteId: string
  readonly status: string
  readonly isGated: boolean
}

export function importsGatedContract(name: string, open: () => Promise<Database>): void {
  describe(`imports at a closed gate: ${name}`, () => {
    const fixture = workFixtures(open)

    /** The rooms, and how many statements they have made. */
    const rooms = ({ database, clock, newId }: WorkFixture): { readonly imports: Imports; readonly statements: () => number } => {
      let statements = 0
      const counted: Database = {
        ...database,
        query: (query, values) => {
          statements++
          return database.query(query, values)
        },
      }
      return { imports: roomsOn({ database: counted, clock, newId }).imports, statements: () => statements }
    }

    /** Imports that are being served: of the four kinds by vendor and class, as many of each. */
    const started = async (the: WorkFixture, count: number): Promise<string[]> => {
      const athletes = await the.athletes(count)
      await the.database.query(
        `insert into import_jobs (id, athlete_id, vendor, type, status, sync_cursor, created_at, started_at, updated_at, call_class)
         select gen_random_uuid(), id, case when n % 4 < 2 then 'strava' else 'oura' end, 'full', 'started', '{}', $2, $2, $2,
           case when n % 2 = 0 then 'backfill' else 'live' end
         from unnest($1::uuid[]) with ordinality as a (id, n)`,
        [athletes, new Date(NOON)],
      )
      return athletes
    }
    const waiting = async (the: WorkFixture): Promise<Wait[]> =>
      await the.database.query<Wait>(
        `select athlete_id as "athleteId", status, is_gated as "isGated" from import_jobs
         where status <> 'started' order by athlete_id`,
      )
    /** The import of an athlete, as the API shows it. */
    const shown = async (imports: Imports, athleteId: string) => {
      const [view] = await imports.list(athleteId, { after: undefined, limit: 1 })
      assert(view)
      const { job, retryAt, cause, limitedBy, message } = view
      return { status: job.status, retryAt, cause, limitedBy, message }
    }

    test('those of its vendor and class wait, by one statement; those that are still being stored do not', async () => {
      const the = await fixture()
      const { imports, statements } = rooms(the)
      const athletes = await started(the, IMPORTS)
      const concerned = athletes.filter((_, at) => (at + 1) % 4 === 0)
      const busy = concerned.slice(0, 3)
      await imports.waitFor(CLOSED, busy)
      assert.equal(statements(), 1)
      assert.deepEqual(
        await waiting(the),
        concerned.slice(3).map(athleteId => ({ athleteId, status: 'rate_limited', isGated: true })),
      )
    })

    test('what is shown is the later of the gate and of the row, with its cause', async () => {
      const the = await fixture()
      const { imports } = rooms(the)
      const athletes = await started(the, 4)
      const [live = '', , , served = ''] = athletes
      const limit = { cause: 'limit', limitedBy: { pool: 'read', window: '15min' } } as const
      await the.gates.close('strava', 'backfill', { cause: 'limit', pool: 'read', window: '15min', resetAt: OPENS_AT })
      // It was not told yet, and no call of it would be made.
      assert.partialDeepStrictEqual(await shown(imports, served), { status: 'rate_limited', retryAt: OPENS_AT, ...limit })
      await imports.waitFor(CLOSED, [])
      const resuming = { status: 'rate_limited', retryAt: OPENS_AT, message: 'Rate limited, resuming at 12:10', ...limit }
      assert.deepEqual(await shown(imports, served), resuming)
      assert.partialDeepStrictEqual(await shown(imports, live), { status: 'started', retryAt: undefined, cause: undefined })

      // The gate closes for longer: the rows are not written again.
      await the.gates.close('strava', 'backfill', {
        cause: 'reserve',
        pool: 'read',
        window: 'day',
        resetAt: OPENS_AT + MINUTE_MS,
      })
      assert.deepEqual(await shown(imports, served), {
        status: 'rate_limited',
        retryAt: OPENS_AT + MINUTE_MS,
        cause: 'reserve',
        limitedBy: { pool: 'read', window: 'day' },
        message: 'Rate limited, resuming at 12:11',
      })

      // It is open again, and this import's turn has not come yet.
      await the.pass(OPENS_AT + MINUTE_MS - the.clock.now())
      const waiting = { status: 'queued', retryAt: undefined, cause: undefined, limitedBy: undefined }
      assert.partialDeepStrictEqual(await shown(imports, served), waiting)

      // A wait of its own that is longer than the gate's.
      await the.database.query(
        "update import_jobs set retry_after = $2, pause = 'fault', pause_pool = null, is_gated = false where athlete_id = $1",
        [served, new Date(OPENS_AT + 3 * MINUTE_MS)],
      )
      assert.deepEqual(await shown(imports, served), {
        status: 'rate_limited',
        retryAt: OPENS_AT + 3 * MINUTE_MS,
        cause: 'fault',
        limitedBy: undefined,
        message: 'Paceline has a fault of its own, next try at 12:13',
      })
    })

    test('a vendor that fails, and an application that is switched off, are shown for both classes', async () => {
      const the = await fixture()
      const { imports } = rooms(the)
      const [live = '', , , served = ''] = await started(the, 4)
      for (let failure = 0; failure < 5; failure++) await the.breaker.failed('strava')
      const both = async (): Promise<unknown[]> => [await shown(imports, live), await shown(imports, served)]
      const shows = (cause: string, message: string) => ({
        status: 'rate_limited',
        retryAt: NOON + 5 * MINUTE_MS,
        cause,
        limitedBy: undefined,
        message,
      })
      const failing = shows('vendor', 'Strava does not answer, next try at 12:05')
      assert.deepEqual(await both(), [failing, failing])
      await the.breaker.inactive('strava')
      const inactive = shows('inactive', 'Strava has switched this application off: its owner needs a subscription')
      assert.deepEqual(await both(), [inactive, inactive])
    })
  })
}
