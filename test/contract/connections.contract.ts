// Connecting, calling and disconnecting, against the simulated vendors, on every database.
import { after, before, beforeEach, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { Erasure, SecretBox, type Accounts, type Connections, type Consent } from '../../src/accounts/accounts.ts'
import type { CallOptions, Fetch } from '../../src/calls/calls.ts'
import { migrate, type Database } from '../../src/db/db.ts'
import { idMaker } from '../../src/kernel/ids.ts'
import { secure } from '../../src/kernel/random.ts'
import { Slots } from '../../src/kernel/slots.ts'
import { unmetered } from '../../src/quota/quota.ts'
import { openSimulator, type Simulator } from '../../src/simulator/simulator.ts'
import { vendorNames, type VendorName } from '../../src/vendors/vendors.ts'
import { consent, type Decision } from '../consent.ts'
import { HOUR_MS } from '../durations.ts'
import { roomsOn, SECRETS, simulatedVendor, SIMULATOR_URL } from '../rooms.ts'
import { ShiftedClock } from '../shifted-clock.ts'
import { lapEraser } from './lap-eraser.ts'
import { planOf } from './lifecycle.contract.ts'

const live: CallOptions = { callClass: 'live' }
const strava = simulatedVendor('strava').endpoints

export function connectionsContract(name: string, open: () => Promise<Database>): void {
  describe(`connections: ${name}`, () => {
    const clock = new ShiftedClock()
    const random = secure()
    const newId = idMaker(clock, random)
    let database: Database
    let simulator: Simulator
    let accounts: Accounts
    let athleteId: string
    before(async () => {
      database = await open()
      await migrate(database)
      await database.script('create table lap (athlete_id uuid, vendor text, at timestamptz)')
      accounts = roomsOn({ database, clock }).accounts
    })
    after(async () => {
      await database.close()
    })
    beforeEach(async () => {
      simulator = openSimulator({ clock, activities: 3, nights: 2, publicUrl: SIMULATOR_URL })
      athleteId = (await accounts.createAthlete({ name: 'Ada', timezone: null })).id
      // A vendor's account belongs to one athlete, and each test has a world of its own.
      await database.script('delete from connection; delete from pending_consent')
    })

    /** Another process's, as far as the database can tell. */
    const process = (
      keys: readonly Uint8Array[] = SECRETS.keys,
      fetch: Fetch = (url, init) => simulator.fetch(url, init),
    ): Connections =>
      roomsOn({
        database,
        clock,
        newId,
        secrets: { ...SECRETS, keys },
        fetch,
        vendor: simulatedVendor,
        permits: unmetered,
        slots: () => new Slots(100),
      }).connections
    const connect = async (
      connections: Connections,
      vendor: VendorName,
      decision?: Decision,
      who = athleteId,
    ): Promise<Consent> => {
      const authorizeUrl = String(await connections.start(who, vendor))
      const back = await consent((url, init) => simulator.fetch(url, init), authorizeUrl, decision)
      assert.equal(`${back.origin}${back.pathname}`, `http://paceline.test/oauth/${vendor}/callback`)
      return await connections.finish(vendor, Object.fromEntries(back.searchParams))
    }
    const connected = async (connections: Connections, vendor: VendorName): Promise<string> => {
      const outcome = await connect(connections, vendor)
      assert.equal(outcome.outcome, 'connected')
      return outcome.outcome === 'connected' ? outcome.connectionId : ''
    }
    const erasureOf = (connections: Connections, days?: number): Erasure =>
      new Erasure({ database, clock, newId, connections, erasers: [lapEraser], retentionDays: () => days })
    const refreshes = (): number => simulator.control.state()['strava']?.refreshes ?? -1

    for (const vendor of vendorNames) {
      test(`${vendor}: consent connects, denying does not, and disconnecting leaves a receipt`, async () => {
        const connections = process()
        assert.deepEqual(await connect(connections, vendor, { deny: true }), { outcome: 'denied' })
        assert.deepEqual(await connections.list(athleteId), [])
        await connected(connections, vendor)
        const [connection] = await connections.list(athleteId)
        assert.partialDeepStrictEqual(connection, { vendor, status: 'active', missingScopes: [] })
        assert(connection?.vendorAthleteId)
        const receipt = await erasureOf(connections).disconnect(athleteId, vendor)
        assert.partialDeepStrictEqual(receipt, { vendor, cause: 'disconnected', counts: { connection: 1 } })
        assert.deepEqual(await connections.list(athleteId), [])
        assert.equal(await erasureOf(connections).disconnect(athleteId, vendor), undefined)
        await connected(connections, vendor)
      })
    }

    test('a scope that was unticked is shown as missing, and a renewed consent heals it', async () => {
      const connections = process()
      await connect(connections, 'strava', { untick: ['activity:read_all'] })
      assert.deepEqual((await connections.list(athleteId))[0]?.missingScopes, ['activity:read_all'])
      await connected(connections, 'strava')
      assert.deepEqual(
        (await connections.list(athleteId)).map(each => each.missingScopes),
        [[]],
      )
    })

    test('a state works once, for its vendor, for a quarter of an hour', async () => {
      const connections = process()
      const fetch = (url: string, init?: RequestInit): Promise<Response> => simulator.fetch(url, init)
      const back = await consent(fetch, String(await connections.start(athleteId, 'strava')))
      const query = Object.fromEntries(back.searchParams)
      assert.deepEqual(await connections.finish('oura', query), { outcome: 'expired' })
      assert.equal((await connections.finish('strava', query)).outcome, 'connected')
      assert.deepEqual(await connections.finish('strava', query), { outcome: 'expired' })
      assert.deepEqual(await connections.finish('strava', { code: 'x', state: 'guessed' }), { outcome: 'expired' })
      const late = await consent(fetch, String(await connections.start(athleteId, 'strava')))
      clock.advance(15 * 60_000)
      assert.deepEqual(await connections.finish('strava', Object.fromEntries(late.searchParams)), { outcome: 'expired' })
      await connections.consents.prune()
      assert.deepEqual(await database.query('select count(*) from oauth_state'), [{ count: 0 }])
    })

    test("a vendor's account belongs to one athlete", async () => {
      const connections = process()
      await connected(connections, 'strava')
      const other = await accounts.createAthlete({ name: 'Bo', timezone: null })
      assert.deepEqual(await connect(connections, 'strava', {}, other.id), { outcome: 'already_connected' })
      simulator.control.addAthlete({ activities: 1 })
      assert.deepEqual(await connect(connections, 'strava'), { outcome: 'already_connected' })
    })

    test('tokens are stored encrypted, bound to their connection, and survive a rotation of the key', async () => {
      const [oldKey, newKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
      const id = await connected(process([oldKey]), 'strava')
      const [row] = await database.query<{ text: string; access_token: Uint8Array }>(
        'select connection::text as text, access_token from connection',
      )
      const token = new SecretBox([oldKey], random).open(row?.access_token ?? Buffer.of(), id)
      assert(token.length > 10 && !row?.text.includes(token) && !row?.text.includes(Buffer.from(token).toString('hex')))
      assert.equal((await process([newKey, oldKey]).call(id, strava.activityList({}), live)).outcome, 'ok')
      await assert.rejects(process([newKey]).call(id, strava.activityList({}), live), { code: 'PACE_SECRET_KEY' })
      assert.throws(() => new SecretBox([oldKey], random).open(row?.access_token ?? Buffer.of(), newId()))
    })

    test('fifty callers in two processes make one refresh', async () => {
      const [one, two] = [process(), process()]
      const id = await connected(one, 'strava')
      clock.advance(7 * HOUR_MS)
      const callers = Array.from({ length: 50 }, (_, n) => (n % 2 === 0 ? one : two))
      const outcomes = await Promise.all(callers.map(each => each.call(id, strava.activityList({}), live)))
      assert.deepEqual(new Set(outcomes.map(each => each.outcome)), new Set(['ok']))
      assert.equal(refreshes(), 1)
    })

    test('a token that the vendor refuses is refreshed once, and the call made once more', async () => {
      const connections = process()
      const id = await connected(connections, 'strava')
      await database.query('update connection set access_token = $1', [
        new SecretBox([Buffer.alloc(32, 1)], random).seal('unknown-to-the-vendor', id),
      ])
      assert.equal((await connections.call(id, strava.activityList({}), live)).outcome, 'ok')
      assert.equal(refreshes(), 1)
    })

    test('a dead refresh token marks the connection once, and nobody asks again', async () => {
      const connections = process()
      const id = await connected(connections, 'strava')
      await database.query('update connection set refresh_token = $1', [
        new SecretBox([Buffer.alloc(32, 1)], random).seal('revoked-long-ago', id),
      ])
      clock.advance(7 * HOUR_MS)
      const outcomes = await Promise.all(Array.from({ length: 5 }, () => connections.call(id, strava.activityList({}), live)))
      assert.deepEqual(new Set(outcomes.map(each => each.outcome)), new Set(['needs_reauth']))
      const asked = JSON.stringify(simulator.control.state())
      assert.deepEqual(await connections.call(id, strava.activityList({}), live), { outcome: 'needs_reauth' })
      assert.equal(JSON.stringify(simulator.control.state()), asked)
      assert.equal((await connections.list(athleteId))[0]?.status, 'needs_reauth')
      await connected(connections, 'strava')
      assert.equal((await connections.list(athleteId))[0]?.status, 'active')
    })

    test('a caller that cancels does not wait for a refresh, which goes on for the others', async () => {
      const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const id = await connected(process(), 'strava')
      const connections = process(undefined, async (url, init) => {
        if (url.endsWith('/oauth/token')) {
          asked.resolve()
          await answered.promise
        }
        return await simulator.fetch(url, init)
      })
      await database.query('update connection set access_expires_at = $1', [new Date(0)])
      const cancelling = new AbortController()
      const call = connections.call(id, strava.activityList({ perPage: 1 }), { ...live, signal: cancelling.signal })
      await asked.promise
      cancelling.abort(new Error('no longer wanted'))
      await assert.rejects(call, /no longer wanted/)
      answered.resolve()
      const { outcome } = await connections.call(id, strava.activityList({ perPage: 1 }), live)
      assert.deepEqual([outcome, refreshes()], ['ok', 1])
    })

    test('a refresher that died leaves a lease that expires', async () => {
      const connections = process()
      const id = await connected(connections, 'strava')
      clock.advance(7 * HOUR_MS)
      await database.query('update connection set refresh_epoch = 9, refresh_lease_until = $1', [new Date(clock.now() + 1_000)])
      const waiting = connections.call(id, strava.activityList({}), live)
      clock.advance(2_000)
      assert.equal((await waiting).outcome, 'ok')
    })

    test('a vendor that cannot be asked is an outcome, and leaves the right to refresh to the next', async () => {
      const connections = process()
      const id = await connected(connections, 'strava')
      clock.advance(7 * HOUR_MS)
      simulator.control.setFaults([{ vendor: 'strava', kind: '5xx', times: 1 }])
      assert.equal((await connections.call(id, strava.activityList({}), live)).outcome, 'transient')
      assert.equal((await connections.call(id, strava.activityList({}), live)).outcome, 'ok')
    })

    for (const [what, route] of [
      ['while its tokens are refreshed', undefined],
      ['even if its token calls were refused too', '/oauth/token'],
    ] as const) {
      test(`an application that Strava switched off is an outcome ${what}; no connection needs a new consent`, async () => {
        const connections = process()
        const id = await connected(connections, 'strava')
        clock.advance(7 * HOUR_MS)
        simulator.control.setFaults([{ vendor: 'strava', kind: 'inactive', ...(route !== undefined && { route }) }])
        const off = await connections.call(id, strava.activityList({}), live)
        assert.deepEqual(off, { outcome: 'inactive', reason: 'Forbidden: Application/Status/Inactive' })
        assert.equal((await connections.list(athleteId))[0]?.status, 'active')
        const { refreshes, requests } = simulator.control.state().strava
        assert.deepEqual([refreshes, requests['GET /api/v3/athlete/activities'] ?? 0], route === undefined ? [1, 1] : [0, 0])
        simulator.control.clearFaults()
        assert.equal((await connections.call(id, strava.activityList({}), live)).outcome, 'ok')
      })
    }

    test("deauthorising at the vendor deletes that vendor's data, and only that", async () => {
      const connections = process()
      await connected(connections, 'strava')
      const laps = [
        [athleteId, 'strava'],
        [athleteId, 'garmin'],
        [newId(), 'strava'],
      ]
      for (const [whose, vendor] of laps)
        await database.query('insert into lap values ($1, $2, $3)', [whose, vendor, new Date(clock.now())])
      const account = (await connections.list(athleteId))[0]?.vendorAthleteId ?? ''
      const erasure = erasureOf(connections)
      const receipt = await erasure.deauthorised('strava', account)
      assert.partialDeepStrictEqual(receipt, { cause: 'deauthorised', counts: { connection: 1, lap: 1 } })
      assert.equal(await erasure.deauthorised('strava', account), undefined)
      assert.deepEqual(
        (await database.query('select vendor from lap order by vendor')).map(row => row['vendor']),
        ['garmin', 'strava'],
      )
      assert.deepEqual(
        (await erasure.receipts(athleteId, { limit: 5 })).map(each => each.id),
        [receipt?.id],
      )
      await database.query('delete from lap')
    })

    test('a look that was read before a new consent does not put off the look after it', async () => {
      const connections = process()
      await connected(connections, 'strava')
      const [due] = await connections.looks.first(9)
      assert(due)
      clock.advance(HOUR_MS)
      await connected(connections, 'strava')
      await connections.looks.move([{ due, next: { at: clock.now() + HOUR_MS, tries: 1 } }])
      const [again] = await connections.looks.first(9)
      assert(again)
      assert(again.at > due.at)
      await connections.looks.move([{ due: again, next: { at: clock.now() + HOUR_MS, tries: 1 } }])
      assert.deepEqual(await connections.looks.first(9), [])
      assert.deepEqual(await connections.looks.later(['strava'], 9), [])
      clock.advance(2 * HOUR_MS)
      assert.deepEqual(await connections.looks.later(['oura'], 9), [])
      assert.deepEqual(
        (await connections.looks.later(['strava', 'oura'], 9)).map(({ tries, isNew }) => [tries, isNew]),
        [[1, true]],
      )
    })

    test('a completed import says when to look again; one that began before the last consent leaves the look due', async () => {
      const connections = process()
      await connected(connections, 'strava')
      const [{ consentedAt } = { consentedAt: new Date(0) }] = await connections.looks.first(9)
      const completes = async (at: number, everyMs: number | undefined): Promise<void> => {
        const synced = { athleteId, vendor: 'strava', at: new Date(at), everyMs } as const
        await database.transaction(tx => connections.synced(tx, synced))
      }
      const due = async (): Promise<number[]> => [
        (await connections.looks.first(9)).length,
        (await connections.looks.later(['strava'], 9)).length,
      ]
      await completes(consentedAt.getTime() - 1, HOUR_MS)
      assert.deepEqual(await due(), [1, 0])
      await completes(clock.now(), HOUR_MS)
      assert.deepEqual(await due(), [0, 0])
      const account = (await connections.list(athleteId))[0]?.vendorAthleteId ?? ''
      await connections.heard('strava', account)
      clock.advance(2 * HOUR_MS)
      assert.deepEqual(await due(), [0, 0], 'webhooks are heard')
      clock.advance(23 * HOUR_MS)
      assert.deepEqual(await due(), [0, 1])
      await completes(clock.now(), undefined)
      await connections.heard('strava', account)
      clock.advance(1000 * HOUR_MS)
      assert.deepEqual(await due(), [0, 0], 'no look is wanted')
    })

    test('the connections that are due for a look are found by their indexes', async () => {
      const first =
        'select from connection where status = $$active$$ and look_tries = 0 and look_at <= now() order by look_at limit 9'
      assert.match(await planOf(database, first), /connection_first_look/)
      const vendor = "status = 'active' and vendor = v and look_tries > 0 and look_at <= now()"
      const later = `select from unnest(array['strava', 'oura']) v
        cross join lateral (select id from connection where ${vendor} order by look_at limit 9) l`
      assert.match(await planOf(database, later), /connection_later_look/)
    })

    test('a consent while an erasure runs waits for its end: the old goes, the new stays', async () => {
      const connections = process()
      await database.query(
        `insert into erasure (id, athlete_id, vendor, cause, counts, stepped_at)
         values (gen_random_uuid(), $1, 'strava', 'disconnected', '{"connection": 1}', now())`,
        [athleteId],
      )
      await connected(connections, 'strava')
      assert.equal((await erasureOf(connections).receipts(athleteId, { limit: 9 })).length, 1)
      assert.deepEqual(await database.query('select count(*) from erasure'), [{ count: 0 }])
      assert.equal((await connections.list(athleteId)).length, 1)
    })

    test('what is older than it may be kept goes, with a receipt; what is younger stays', async () => {
      const connections = process()
      await connected(connections, 'strava')
      for (const days of [1, 8, 9])
        await database.query('insert into lap values ($1, $2, $3)', [
          athleteId,
          'strava',
          new Date(clock.now() - days * 24 * HOUR_MS),
        ])
      assert.deepEqual(await erasureOf(connections).retain('strava'), [])
      const receipts = await erasureOf(connections, 7).retain('strava')
      assert.deepEqual(
        receipts.map(each => [each.cause, each.counts]),
        [['retention', { lap: 2 }]],
      )
      assert.deepEqual(await erasureOf(connections, 7).retain('strava'), [])
      assert.deepEqual(await database.query('select count(*) from lap'), [{ count: 1 }])
      await database.query('delete from lap')
    })
  })
}
