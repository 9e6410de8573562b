// An import by the whole program, killed with -9 again and again at random points: between a request and its answer, between the
// answer and its commit, while it starts. The vendor lives in this process and hears everything; the store is read after every kill.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TestContext } from 'node:test'
import type { Database } from '../../src/db/db.ts'
import { ScaledClock, SystemClock } from '../../src/kernel/clock.ts'
import { between, seeded, type Random } from '../../src/kernel/random.ts'
import { until } from '../waiting.ts'
import { openHeardVendor, type HeardVendor } from './heard-vendor.ts'
import { commandsIn, vendorSettings, type Athlete } from './installation.ts'
import { launch, up, type Settings } from './paceline.ts'

export interface KillPlan {
  readonly activities: number
  readonly kills: number
  readonly seed: number
  readonly folder: string
  /** Where the store is, as the program is told. */
  readonly store: Settings
  readonly open: () => Promise<Database>
}

/** So that a sweep comes every second; nothing else of the import waits for time. */
const SPEED = 60
/** Far more than is asked for: what waits for a window is tried elsewhere. */
const LIMITS: readonly [number, number] = [50_000, 500_000]
/** A start takes about this long; some kills fall into it. */
const START_MS = 2_000
/** A detail is asked for, answered and stored within about this. */
const DETAIL_MS = 40

export async function killedImport(t: TestContext, plan: KillPlan): Promise<void> {
  const { activities, kills, seed } = plan
  const [random, anchor] = [seeded(seed), Date.now()]
  const clock = new ScaledClock(new SystemClock(), SPEED, anchor)
  const vendor = await openHeardVendor({ clock, activities, nights: 1, limits: { read: LIMITS, overall: LIMITS } })
  try {
    const settings = settingsFor(plan, vendor, anchor)
    const athlete = await connected(plan.folder, settings)
    const rounds = [await lookAt(plan, vendor)]
    while (rounds.length < kills) {
      const most = Math.ceil((2 * activities) / kills)
      await killOnce(plan.folder, settings, vendor, { after: between(random, 0, most), random })
      rounds.push(await lookAt(plan, vendor))
    }
    await completed(plan.folder, settings, athlete)
    const { repeated, renewed } = await assertWhole(plan, vendor, { rounds, lastedMs: clock.now() - anchor })
    t.diagnostic(
      `seed ${seed}: ${kills} kills, ${rounds.map(round => round.committed.length).join(' ')} details committed at each; ` +
        `${vendor.heard.length} calls for ${activities} activities, ${repeated} of them repeated, ${renewed} for the newest page after a kill`,
    )
  } catch (error) {
    t.diagnostic(`seed ${seed}`)
    throw error
  } finally {
    await vendor.close()
  }
}

function settingsFor({ store }: KillPlan, vendor: HeardVendor, anchor: number): Settings {
  return {
    ...store,
    PACELINE_PORT: '0',
    PACELINE_CLOCK_ANCHOR: new Date(anchor).toISOString(),
    PACELINE_POLL_MINUTES: '43200',
    // A pause at a quarter's edge would add a resume, and this counts the resumes.
    PACELINE_QUOTA_GUARD_MS: '0',
    ...vendorSettings(vendor.url),
    STRAVA_READ_LIMIT: LIMITS.join(','),
    STRAVA_OVERALL_LIMIT: LIMITS.join(','),
  }
}

/** An athlete who has just consented when the first kill comes. */
async function connected(folder: string, settings: Settings): Promise<Athlete> {
  const server = await up(folder, settings, '--speed', String(SPEED))
  const commands = commandsIn(folder, settings)
  const athlete = await commands.athlete()
  await commands.connect(athlete.id)
  await server.stop('SIGKILL')
  return athlete
}

async function killOnce(
  folder: string,
  settings: Settings,
  { heard }: HeardVendor,
  { after, random }: { after: number; random: Random },
): Promise<void> {
  const until = heard.length + after
  const { child, ended } = launch(folder, settings, ['up', '--speed', String(SPEED)])
  let isOver = false
  void ended.then(() => {
    isOver = true
  })
  if (after === 0) await sleep(between(random, 0, START_MS))
  while (after > 0 && heard.length < until && !isOver) await sleep(1)
  await sleep(between(random, 0, DETAIL_MS))
  child.kill('SIGKILL')
  const { code, err } = await ended
  assert.equal(code, null, `it ended by itself: ${err}`)
}

interface Round {
  /** How many requests had arrived. */
  readonly heard: number
  /** Ids of the activities whose detail is stored. */
  readonly committed: readonly string[]
}

/** What survived. Where others may share the store, the lease of the dead is over, as it will be a minute later. */
async function lookAt({ open }: KillPlan, { heard }: HeardVendor): Promise<Round> {
  await using opened = new AsyncDisposableStack()
  const database = await open()
  opened.defer(() => database.close())
  const rows = await database.query<{ id: string }>(
    'select external_activity_id as id from activity where detailed_at is not null',
  )
  if (database.kind === 'postgres')
    await database.query("update work_lane set lease_until = '2000-01-01Z' where owner is not null")
  return { heard: heard.length, committed: rows.map(({ id }) => id) }
}

async function completed(folder: string, settings: Settings, { headers }: Athlete): Promise<void> {
  const server = await up(folder, settings, '--speed', String(SPEED))
  await until(async () => {
    const answer = await fetch(`${server.url}/v1/imports?limit=1`, { headers })
    const { items } = (await answer.json()) as { items: { status: string; message: string }[] }
    assert.notEqual(items[0]?.status, 'failed', items[0]?.message)
    return items[0]?.status === 'completed'
  })
  assert.equal((await server.stop()).code, 0)
}

const LOOK_AGAIN_MS = 10 * 60_000
const NEWEST = '/athlete/activities?page=1&per_page=200'

interface Stored {
  readonly id: string
  readonly isDetailed: boolean
  readonly photoCount: number
  readonly photos: number
}

async function assertWhole(
  { activities, open }: KillPlan,
  vendor: HeardVendor,
  { rounds, lastedMs }: { rounds: readonly Round[]; lastedMs: number },
) {
  const { heard, simulator } = vendor
  await using opened = new AsyncDisposableStack()
  const database = await open()
  opened.defer(() => database.close())
  const rows = await database.query<Stored>(
    `select external_activity_id as id, detailed_at is not null as "isDetailed", photo_count as "photoCount",
       (select count(*) from activity_photo p where p.activity_id = a.id) as photos from activity a`,
  )
  assert.equal(rows.length, activities)
  assert.equal(new Set(rows.map(({ id }) => id)).size, activities)
  assert.deepEqual(
    rows.filter(({ isDetailed, photoCount, photos }) => !isDetailed || photoCount !== photos),
    [],
  )
  for (const { heard: from, committed } of rounds) {
    const later = new Set(heard.slice(from))
    assert.deepEqual(
      committed.filter(id => later.has(`/activities/${id}`)),
      [],
    )
  }
  const jobs = await database.query<{ imported: number; problems: unknown[] }>(
    "select (sync_cursor->>'activities_imported')::integer as imported, problems from import_jobs",
  )
  assert.deepEqual(jobs, [{ imported: activities, problems: [] }])
  const newest = heard.filter(path => path === NEWEST).length
  const others = heard.filter(path => path !== NEWEST)
  const repeated = others.length - new Set(others).size
  // One newest page begins the list. It is looked at again when that is ten minutes ago, and once more where a kill cut that off.
  const looks = 1 + Math.floor(lastedMs / LOOK_AGAIN_MS) + rounds.length
  assert(newest <= looks, `${newest} requests for the newest page, not ${looks}`)
  assert(repeated <= rounds.length, `${repeated} requests were repeated after ${rounds.length} kills`)
  assert.equal(simulator.control.state().strava.overLimit, 0)
  return { repeated, renewed: newest - 1 }
}
