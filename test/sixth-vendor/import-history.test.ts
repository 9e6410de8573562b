// Run in a copy of the source with the sixth vendor in it: the program's own rooms import an athlete's workouts, on virtual time.
import { after, before, test } from 'node:test'
import assert from 'node:assert/strict'
import { VirtualBell } from '../../src/bell/bell.ts'
import { VirtualClock } from '../../src/kernel/clock.ts'
import { roomsOn, vendorAt } from '../rooms.ts'
import { openMigrated } from '../stores.ts'
import { tracked } from '../world.ts'
import { PlayedMilepost, REFUSED_SECONDS, workoutAt } from './played-milepost.ts'

const WORKOUTS = 230
const LOOK_MS = 10_000
const LONGEST_MS = 86_400_000

const clock = new VirtualClock(Date.UTC(2026, 2, 10, 6, 1))
const bell = new VirtualBell(clock)
const milepost = new PlayedMilepost(clock, WORKOUTS)
const store = await openMigrated()
const database = tracked(store, clock)
const open = vendorAt('milepost', 'http://milepost.test')
const rooms = roomsOn({
  clock,
  bell,
  database,
  fetch: milepost.fetch,
  vendor: name => (name === 'milepost' ? open : undefined),
})
const { worker } = rooms
let athleteId = ''

before(() =>
  clock.runUntil(
    (async () => {
      await worker.start()
      await bell.service.start()
      for (const ringFirst of rooms.imports.schedules()) await ringFirst()
    })(),
  ),
)
after(async () => {
  await clock.runUntil(bell.service.stop().then(() => worker.stop()))
  await store.close()
})

async function connect(): Promise<void> {
  athleteId = (await rooms.accounts.createAthlete({ name: 'Ada', timezone: 'Europe/Berlin' })).id
  const consentAt = new URL(String(await rooms.connections.start(athleteId, 'milepost')))
  const state = consentAt.searchParams.get('state') ?? ''
  const { outcome } = await rooms.connections.finish('milepost', { state, code: 'yes', scope: 'workouts' })
  assert.equal(outcome, 'connected')
}

/** Waits for the end of the newest of so many imports; gives it and the times until which it paused. */
async function watched(imports: number): Promise<{ end: string; pauses: number[] }> {
  const pauses = new Set<number>()
  for (const giveUpAt = clock.now() + LONGEST_MS; clock.now() < giveUpAt; await clock.sleep(LOOK_MS)) {
    const jobs = await database.query<{ status: string; retryAfter: Date | null }>(
      'select status, retry_after as "retryAfter" from import_jobs order by id desc',
    )
    const { status, retryAfter = null } = jobs.length < imports ? {} : (jobs[0] ?? {})
    if (retryAfter !== null) pauses.add(retryAfter.getTime())
    if (status === 'completed' || status === 'failed') return { end: status, pauses: [...pauses] }
  }
  return { end: 'none', pauses: [...pauses] }
}

const stored = (): Promise<{ id: string; name: string; vendor: string }[]> =>
  database.query(
    'select external_activity_id as id, name, provider as vendor from activity where athlete_id = $1 order by start_time desc',
    [athleteId],
  )

/** What the budget granted, and what came of it. */
const granted = (): Promise<{ endpoint: string; status: number | null }[]> =>
  database.query(`select endpoint, status from api_requests where vendor = 'milepost' and endpoint <> 'token'`)

test('a history is stored whole and once, in pauses, within the budget and over a refusal', () =>
  clock.runUntil(
    (async () => {
      await connect()
      milepost.refusesNext = true
      const refusedAt = clock.now()
      const { end, pauses } = await watched(1)
      assert.equal(end, 'completed')
      assert((pauses[0] ?? 0) >= refusedAt + REFUSED_SECONDS * 1000, 'the refusal is the first pause')
      assert(pauses.length >= 3, `${WORKOUTS} workouts need three windows`)
      assert.deepEqual(
        (await stored()).map(({ id, vendor }) => `${vendor} ${id}`),
        milepost.workouts.map(({ id }) => `milepost ${id}`),
      )
      const calls = await granted()
      assert.equal(calls.length, milepost.asked.length)
      assert.equal(calls.filter(({ status }) => status === 429).length, 1)
      assert.equal(milepost.overLimit, 0)
    })(),
  ))

test('what is new comes with the next poll, for few calls, and an edit changes the row', () =>
  clock.runUntil(
    (async () => {
      const asked = milepost.asked.length
      milepost.workouts.unshift(workoutAt('new', clock.now()))
      milepost.workouts[1] = { ...workoutAt(String(WORKOUTS), Date.parse(milepost.workouts[1]?.began ?? '')), name: 'Renamed' }
      assert.equal((await watched(2)).end, 'completed')
      const [newest, edited, ...others] = await stored()
      assert.deepEqual([newest?.id, edited?.name, others.length], ['new', 'Renamed', WORKOUTS - 1])
      assert(milepost.asked.length - asked <= 2, 'a poll reads a week, not the history')
    })(),
  ))
