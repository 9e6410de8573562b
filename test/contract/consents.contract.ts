// Consents at once, and consents that wait for a person's answer, against the simulated Strava, on every database.
import { after, before, beforeEach, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { SecretBox, type Connections, type Consent, type Question } from '../../src/accounts/accounts.ts'
import type { CallOptions, Fetch } from '../../src/calls/calls.ts'
import { migrate, type Database } from '../../src/db/db.ts'
import { idMaker } from '../../src/kernel/ids.ts'
import { secure } from '../../src/kernel/random.ts'
import { Slots } from '../../src/kernel/slots.ts'
import { unmetered } from '../../src/quota/quota.ts'
import { openSimulator, type Simulator } from '../../src/simulator/simulator.ts'
import { consent } from '../consent.ts'
import { roomsOn, SECRETS, simulatedVendor, SIMULATOR_URL } from '../rooms.ts'
import { ShiftedClock } from '../shifted-clock.ts'
import { until } from '../waiting.ts'

const live: CallOptions = { callClass: 'live' }
const strava = simulatedVendor('strava').endpoints

export function consentsContract(name: string, open: () => Promise<Database>): void {
  describe(`consents: ${name}`, () => {
    const clock = new ShiftedClock()
    const random = secure()
    const newId = idMaker(clock, random)
    let database: Database
    let simulator: Simulator
    let athleteId: string
    before(async () => {
      database = await open()
      await migrate(database)
    })
    after(async () => {
      await database.close()
    })
    beforeEach(async () => {
      simulator = openSimulator({ clock, activities: 3, nights: 2, publicUrl: SIMULATOR_URL })
      const { accounts } = roomsOn({ database, clock })
      athleteId = (await accounts.createAthlete({ name: 'Ada', timezone: null })).id
      // A vendor's account belongs to one athlete, and each test has a world of its own.
      await database.script('delete from connection; delete from pending_consent')
    })

    const send = (url: string, init?: RequestInit): Promise<Response> => simulator.fetch(url, init)
    /** Another process's, as far as the database can tell. */
    const process = (fetch: Fetch = send, store = database): Connections => {
      const given = { clock, newId, vendor: simulatedVendor, permits: unmetered, slots: () => new Slots(100) }
      return roomsOn({ ...given, database: store, fetch }).connections
    }
    const returned = async (connections: Connections): Promise<Record<string, string>> =>
      Object.fromEntries((await consent(send, String(await connections.start(athleteId, 'strava')))).searchParams)
    const connect = async (connections: Connections): Promise<Consent> =>
      await connections.finish('strava', await returned(connections))
    const connected = async (connections: Connections): Promise<string> => idIn(await connect(connections))
    /** Gives the athlete's grant back when the vendor has, and `released` says so; the vendor has it from the request on. */
    const heldBack =
      (asked: () => void, released: Promise<void>): Fetch =>
      async (url, init) => {
        const answer = await simulator.fetch(url, init)
        if (url.endsWith('/oauth/token')) {
          asked()
          await released
        }
        return answer
      }
    const assertWorks = async (id: string): Promise<void> => {
      type Row = { id: string; access_token: Uint8Array; refresh_token: Uint8Array }
      const rows = await database.query<Row>('select id, access_token, refresh_token from connection')
      assert.deepEqual(
        rows.map(row => row.id),
        [id],
      )
      const box = new SecretBox(SECRETS.keys, random)
      for (const row of rows) for (const token of [row.access_token, row.refresh_token]) assert(box.open(token, row.id))
      assert.equal((await process().call(id, strava.activityList({}), live)).outcome, 'ok')
    }
    const idIn = (outcome: Consent): string => (outcome.outcome === 'connected' ? outcome.connectionId : outcome.outcome)

    test('two consents at once make one connection, whose tokens open', async () => {
      for (let round = 0; round < 5; round++) {
        const [one, two] = await Promise.all([connect(process()), connect(process())])
        assert.equal(idIn(one), idIn(two))
        await assertWorks(idIn(one))
        await database.query('delete from connection')
      }
    })

    test('of two consents at once the later grant is stored last, however late the answer to the earlier one is', async () => {
      const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const first = connect(process(heldBack(asked.resolve, released.promise)))
      await asked.promise
      // The second process waits for its turn, as its statements show; without turns it would end before the first.
      let [statements, isDone] = [0, false]
      const counted = new Proxy(database, {
        get: (store, key) => {
          if (key === 'query') statements++
          const member: unknown = Reflect.get(store, key)
          return typeof member === 'function' ? (member.bind(store) as unknown) : member
        },
      })
      const second = connect(process(undefined, counted)).finally(() => (isDone = true))
      await until(() => isDone || statements >= 8)
      released.resolve()
      const [one, two] = [idIn(await first), idIn(await second)]
      assert.equal(one, two)
      await assertWorks(two)
      assert.deepEqual(await database.query('select owner from consent_turn'), [])
    })

    test('a consent whose turn was taken over stores nothing', async () => {
      const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const first = connect(process(heldBack(asked.resolve, released.promise)))
      await asked.promise
      clock.advance(61_000)
      const second = await connect(process())
      released.resolve()
      assert.deepEqual(await first, { outcome: 'expired' })
      await assertWorks(idIn(second))
    })

    const asks = async (connections: Connections): Promise<Question> => {
      const arrived = await connections.consents.arrive('strava', await returned(connections), () => false)
      assert(arrived.outcome === 'question')
      return arrived
    }
    const revoked = (): number => simulator.control.state().strava.requests['POST /oauth/revoke'] ?? 0

    test('of two processes that confirm a consent at once one connects; confirming and cancelling at once has one outcome', async () => {
      const [one, two] = [process(), process()]
      const question = await asks(one)
      const outcomes = await Promise.all([one, two].map(each => each.consents.confirm('strava', question)))
      assert.deepEqual(outcomes.map(each => each.outcome).toSorted(), ['connected', 'expired'])
      await assertWorks(idIn(outcomes.find(each => each.outcome === 'connected') ?? { outcome: 'expired' }))
      await database.query('delete from connection')
      const again = await asks(one)
      const [confirmed, cancelled] = await Promise.all([
        one.consents.confirm('strava', again),
        two.consents.cancel('strava', again),
      ])
      assert.deepEqual([confirmed.outcome, revoked()], cancelled ? ['expired', 1] : ['connected', 0])
      assert.deepEqual(await database.query('select id from pending_consent'), [])
    })

    test('a question about an account is replaced by the next one, and ended by its connection: the vendor ends the older grant', async () => {
      const connections = process()
      const [older, newer] = [await asks(connections), await asks(connections)]
      assert.deepEqual(await connections.consents.confirm('strava', older), { outcome: 'expired' })
      await assertWorks(idIn(await connections.consents.confirm('strava', newer)))
      const late = await asks(connections)
      const id = await connected(connections)
      assert.deepEqual(await connections.consents.confirm('strava', late), { outcome: 'expired' })
      await assertWorks(id)
      assert.equal(revoked(), 0)
    })

    test('what nobody confirms is revoked by whichever process comes by, unless the account is connected', async () => {
      const connections = process()
      await asks(connections)
      clock.advance(10 * 60_000)
      await process().consents.expire()
      assert.deepEqual([revoked(), await database.query('select id from pending_consent')], [1, []])
      await connected(connections)
      await asks(connections)
      clock.advance(10 * 60_000)
      await process().consents.expire()
      assert.deepEqual([revoked(), await database.query('select id from pending_consent')], [1, []])
    })
  })
}
