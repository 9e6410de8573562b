// A consent is followed by an import at once, without any schedule, on every database: whichever process heard the consent.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Database, Listener } from '../../src/db/db.ts'
import { unmetered } from '../../src/quota/quota.ts'
import type { Rooms } from '../../src/rooms.ts'
import { openSimulator } from '../../src/simulator/simulator.ts'
import { consent } from '../consent.ts'
import { HOUR_MS } from '../durations.ts'
import { roomsOn, simulatedVendor, SIMULATOR_URL } from '../rooms.ts'
import { ShiftedClock } from '../shifted-clock.ts'
import { until } from '../waiting.ts'
import { emptiedStore } from './emptied-store.ts'

export function consentWatchContract(name: string, open: () => Promise<Database>): void {
  describe(`the watch over consents: ${name}`, () => {
    const emptied = emptiedStore(open)
    const clock = new ShiftedClock()

    async function world() {
      const database = await emptied()
      const simulator = openSimulator({ clock, activities: 3, publicUrl: SIMULATOR_URL })
      const fetch = (url: string | URL, init?: RequestInit): Promise<Response> => simulator.fetch(url, init)
      const process = (own: Partial<Database> = {}): Rooms =>
        roomsOn({ database: withOwn(database, own), clock, fetch, vendor: simulatedVendor, permits: unmetered })
      const { accounts, connections } = process()
      const { id: athleteId } = await accounts.createAthlete({ name: 'Ada', timezone: null })
      const connects = async (): Promise<void> => {
        const back = await consent(fetch, String(await connections.start(athleteId, 'strava')))
        const { outcome } = await connections.finish('strava', Object.fromEntries(back.searchParams))
        assert.equal(outcome, 'connected')
      }
      const imports = async (): Promise<number> =>
        (await database.query('select from import_jobs where athlete_id = $1', [athleteId])).length
      return { database, process, connects, imports }
    }

    test('whoever connects, or consents anew, in another process has an import', async () => {
      const { database, process, connects, imports } = await world()
      const { watching } = process().imports
      await watching.start()
      await connects()
      await until(async () => (await imports()) === 1)
      await database.query("update import_jobs set status = 'failed', error = 'Gone'")
      clock.advance(HOUR_MS)
      await connects()
      await until(async () => (await imports()) === 2)
      await watching.stop()
    })

    test('after a lost connection it looks for itself', async () => {
      const { process, connects, imports } = await world()
      let lost: Listener = () => undefined
      const listen: Database['listen'] = (_, listener) => {
        lost = listener
        return Promise.resolve(() => Promise.resolve())
      }
      const { watching } = process({ listen }).imports
      await watching.start()
      await connects()
      assert.equal(await imports(), 0)
      lost(undefined)
      await until(async () => (await imports()) === 1)
      await watching.stop()
    })
  })
}

const withOwn = (database: Database, own: Partial<Database>): Database => ({
  kind: database.kind,
  query: (query, values) => database.query(query, values),
  script: text => database.script(text),
  notify: (channel, payload) => database.notify(channel, payload),
  transaction: (work, options) => database.transaction(work, options),
  listen: (channel, listener) => database.listen(channel, listener),
  close: () => database.close(),
  ...own,
})
