// A random history, random changes at the vendor, pauses, 404s in passing and kills: after a look at the whole list the store equals the
// vendor, and the details asked for are those that the differences need.
import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Database } from '../../src/db/db.ts'
import { emptiedStore } from '../contract/emptied-store.ts'
import { DETAIL, detailsAsked, idsOf, LIST, SMALL, stored, WIDE } from '../contract/imports-fixture.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../durations.ts'
import { ImportWorld, type Process } from '../import-world.ts'
import { runs } from '../runs.ts'
import { openMigrated } from '../stores.ts'

/** `at` chooses among the activities that are there. */
type Deed =
  | { readonly does: 'add'; readonly daysAgo: number; readonly isPrivate: boolean }
  | { readonly does: 'rename' | 'hide' | 'delete'; readonly at: number }

interface Round {
  readonly deeds: readonly Deed[]
  /** How many details are answered with 404 although they are there. */
  readonly notFound: number
  /** The answers after which the process dies. */
  readonly kills: readonly number[]
}

interface Story {
  readonly history: readonly number[]
  readonly rounds: readonly Round[]
  readonly isNarrow: boolean
}

const daysAgo = fc.integer({ min: 1, max: 900 })
const place = fc.nat({ max: 10_000 })
const deed: fc.Arbitrary<Deed> = fc.oneof(
  fc.record({ does: fc.constant('add' as const), daysAgo, isPrivate: fc.boolean() }),
  fc.record({ does: fc.constantFrom('rename' as const, 'hide' as const, 'delete' as const), at: place }),
)
const round: fc.Arbitrary<Round> = fc.record({
  deeds: fc.array(deed, { maxLength: 12 }),
  notFound: fc.nat({ max: 2 }),
  kills: fc.array(fc.integer({ min: 1, max: 8 }), { maxLength: 2 }),
})
const story: fc.Arbitrary<Story> = fc.record({
  history: fc.array(daysAgo, { maxLength: 30 }),
  rounds: fc.array(round, { minLength: 1, maxLength: 2 }),
  isNarrow: fc.boolean(),
})

/** What the vendor shows us, by id. */
class Shown {
  readonly names = new Map<string, string>()
  readonly #the: ImportWorld
  readonly #isNarrow: boolean
  #named = 0

  constructor(the: ImportWorld, isNarrow: boolean) {
    this.#the = the
    this.#isNarrow = isNarrow
  }

  /** Gives the id of what our list or a detail will show differently; undefined if nothing will. */
  apply(one: Deed): string | undefined {
    const { control } = this.#the.simulator
    if (one.does === 'add') return this.add(one.daysAgo, one.isPrivate)
    const id = [...this.names.keys()][one.at % this.names.size]
    if (id === undefined) return undefined
    const name = `Renamed ${++this.#named}`
    if (one.does === 'rename') {
      control.changeActivity(id, { name })
      this.names.set(id, name)
    } else {
      if (one.does === 'delete') control.deleteActivity(id)
      else control.changeActivity(id, { private: true })
      this.names.delete(id)
    }
    return id
  }

  add(days: number, isPrivate = false): string | undefined {
    const name = `Added ${++this.#named}`
    const start = new Date(this.#the.clock.now() - days * DAY_MS).toISOString()
    const added = this.#the.simulator.control.addActivity({ start, name, seconds: 60, private: isPrivate })
    assert(added)
    if (isPrivate && this.#isNarrow) return undefined
    this.names.set(added.id, name)
    return added.id
  }
}

/** A full look, through kills, to its end; and to that of the second one a day later where much is missing. */
async function look(the: ImportWorld, kills: readonly number[]): Promise<void> {
  let process = the.process()
  let answers = 0
  const left = [...kills]
  the.onAnswer = () => {
    answers += 1
    if (left[0] !== undefined && answers >= left[0]) {
      answers = 0
      left.shift()
      process.die()
    }
  }
  await process.imports.start(the.athleteId, 'strava', { type: 'full' })
  await process.start()
  for (const _ of kills) {
    await the.clock.sleep(3 * MINUTE_MS)
    process = the.process()
    await process.start()
  }
  const view = await the.untilDone(process)
  assert.equal(view.job.status, 'completed', view.message)
  await process.stop()
  if (view.problems.some(({ externalId }) => externalId === 'history')) await secondLook(the)
}

async function secondLook(the: ImportWorld): Promise<void> {
  await the.clock.sleep(DAY_MS)
  const process: Process = the.process()
  await process.start()
  await the.clock.sleep(HOUR_MS)
  assert.deepEqual((await the.untilDone(process)).problems, [])
  await process.stop()
}

async function play(database: Database, { history, rounds, isNarrow }: Story, limits: object): Promise<void> {
  const the = new ImportWorld(database, { activities: 0, ...limits })
  const shown = new Shown(the, isNarrow)
  for (const days of history) shown.add(days)
  await the.run(async () => {
    const first = the.process()
    await the.connect(first, isNarrow ? { untick: ['activity:read_all'] } : {})
    await first.start()
    await the.untilDone(first)
    await first.stop()
    for (const { deeds, notFound, kills } of rounds) {
      await the.clock.sleep(HOUR_MS)
      // What the round before could not have is still owed.
      const owed = await the.database.query<{ id: string }>(
        'select external_activity_id as id from activity where detailed_at is null or detail_stale',
      )
      const changed = deeds.filter(one => isNarrow || one.does !== 'hide').flatMap(one => shown.apply(one) ?? [])
      const different = new Set([...idsOf(owed), ...changed])
      the.asked.length = 0
      const details = 'GET /api/v3/activities/{id}'
      if (notFound > 0)
        the.simulator.control.setFaults([{ vendor: 'strava', kind: 'not_found', route: details, times: notFound }])
      await look(the, kills)
      the.simulator.control.clearFaults()
      const rows = await stored(the)
      assert.deepEqual(new Map(rows.map(({ id, name }) => [id, name])), shown.names, 'the store is the vendor')
      assertNeeded(the, different, notFound + kills.length)
    }
  })
  assert.equal(the.vendor.overLimit, 0)
}

/** What was added and deleted before the look differs in nothing, and costs nothing. */
function assertNeeded(the: ImportWorld, different: ReadonlySet<string>, mishaps: number): void {
  const asked = detailsAsked(the)
  assert.deepEqual(
    asked.filter(id => !different.has(id)),
    [],
    'only for what differs',
  )
  assert(asked.length <= different.size + mishaps, `${asked.length} details for ${different.size} differences`)
  assert.equal(the.asked.length, the.requests(LIST).length + the.requests(DETAIL).length)
}

const emptied = emptiedStore(openMigrated)

for (const [name, limits, count] of [
  ['without pauses', WIDE, runs(14, 150)],
  ['over pauses', SMALL, runs(6, 60)],
] as const) {
  test(`after a look at the whole list the store equals the vendor, for the calls that the differences need: ${name}`, async () => {
    await fc.assert(
      fc.asyncProperty(story, async one => {
        await play(await emptied(), one, limits)
      }),
      { numRuns: count, endOnFailure: true },
    )
  })
}
