import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { VirtualClock } from '../kernel/clock.ts'
import { HOUR_MS } from '../kernel/durations.ts'
import { idMaker } from '../kernel/ids.ts'
import { secure } from '../kernel/random.ts'
import type { Database, Eraser } from '../db/db.ts'
import { openMigrated } from '../../test/stores.ts'
import { Accounts, eraseSome } from './accounts.ts'

const NOBODY = '018f3d3e-0000-7000-8000-000000000000'

describe('accounts', () => {
  const secrets = { adminToken: 'the-admin-token', ingestToken: 'the-ingest-token' }
  const clock = new VirtualClock(Date.UTC(2026, 0, 1))
  let database: Database
  let accounts: Accounts
  before(async () => {
    database = await openMigrated()
    accounts = new Accounts({ database, clock, random: secure(), newId: idMaker(clock, secure()), secrets })
  })
  after(async () => {
    await database.close()
  })
  const athlete = async (name = 'Ada'): Promise<string> => (await accounts.createAthlete({ name, timezone: null })).id

  test('athletes are listed in the order of their making, page by page', async () => {
    const made = [await athlete('One'), await athlete('Two'), await athlete('Three')]
    const first = await accounts.athletes({ limit: 2 })
    const second = await accounts.athletes({ after: first.at(-1)?.id, limit: 2 })
    assert.deepEqual(
      [...first, ...second].map(each => each.id),
      made,
    )
  })

  test("an athlete's token identifies them until it is revoked", async () => {
    const athleteId = await athlete()
    const made = await accounts.createToken(athleteId)
    assert(made)
    assert.deepEqual(await accounts.identify(made.token), { kind: 'athlete', athleteId })
    assert.equal(await accounts.revokeToken(athleteId, made.id), true)
    assert.equal(await accounts.identify(made.token), undefined)
    assert.equal(await accounts.revokeToken(athleteId, made.id), false)
    assert.deepEqual(await accounts.tokens(athleteId, { limit: 10 }), [])
  })

  test("another athlete's token cannot be revoked", async () => {
    const made = await accounts.createToken(await athlete())
    assert(made)
    assert.equal(await accounts.revokeToken(await athlete(), made.id), false)
    assert.equal((await accounts.identify(made.token))?.kind, 'athlete')
  })

  test('nobody gets no token and no link', async () => {
    assert.equal(await accounts.createToken(NOBODY), undefined)
    assert.equal(await accounts.createSignInLink(NOBODY), undefined)
  })

  test("the installation's two tokens identify the operator and the ingest", async () => {
    assert.deepEqual(await accounts.identify(secrets.adminToken), { kind: 'operator' })
    assert.deepEqual(await accounts.identify(secrets.ingestToken), { kind: 'ingest' })
    assert.equal(await accounts.identify('the-admin-tokem'), undefined)
    assert.equal(await accounts.identify(''), undefined)
  })

  test('no secret is stored as it is given out', async () => {
    const athleteId = await athlete()
    const token = (await accounts.createToken(athleteId))?.token
    const link = await accounts.createSignInLink(athleteId)
    const unused = await accounts.createSignInLink(null)
    const session = await accounts.signIn(String(link))
    const rows = await database.query(
      'select api_token::text, sign_in_link::text, session::text from api_token, sign_in_link, session',
    )
    assert(rows.length > 0)
    const stored = JSON.stringify(rows)
    for (const secret of [token, unused, session]) {
      assert(secret)
      assert(!stored.includes(secret) && !stored.includes(Buffer.from(secret).toString('hex')))
    }
  })

  test('a link signs in once, also when it is clicked twice at once', async () => {
    const athleteId = await athlete()
    const link = String(await accounts.createSignInLink(athleteId))
    const sessions = await Promise.all([accounts.signIn(link), accounts.signIn(link), accounts.signIn(link)])
    const [session, ...more] = sessions.filter(each => each !== undefined)
    assert.deepEqual(more, [])
    assert.deepEqual(await accounts.identifySession(String(session)), { kind: 'athlete', athleteId })
  })

  test("the operator's link opens the operator's session, which ends when they sign out", async () => {
    const session = String(await accounts.signIn(String(await accounts.createSignInLink(null))))
    assert.deepEqual(await accounts.identifySession(session), { kind: 'operator' })
    await accounts.signOut(session)
    assert.equal(await accounts.identifySession(session), undefined)
  })

  test('a link lives a day and a session thirty, and both are forgotten afterwards', async () => {
    const [used, late] = [await accounts.createSignInLink(null), await accounts.createSignInLink(null)]
    const session = String(await accounts.signIn(String(used)))
    await clock.runUntil(clock.sleep(24 * HOUR_MS))
    assert.equal(await accounts.signIn(String(late)), undefined)
    assert.equal((await accounts.identifySession(session))?.kind, 'operator')
    await clock.runUntil(clock.sleep(29 * 24 * HOUR_MS))
    assert.equal(await accounts.identifySession(session), undefined)
    await accounts.prune()
    assert.deepEqual(
      await database.query('select (select count(*) from session) as sessions, (select count(*) from sign_in_link) as links'),
      [{ sessions: 0, links: 0 }],
    )
  })

  test('in a step all rooms forget together, or none does', async () => {
    await database.script('create table run (athlete_id uuid); create table nap (athlete_id uuid)')
    const athleteId = await athlete()
    const eraserOf = (table: string): Eraser => ({
      tables: [table],
      due: () => Promise.resolve([]),
      erase: async (tx, whose) => {
        const erased = await tx.query(`delete from ${table} where athlete_id = $1 returning 1`, [whose.athleteId])
        return { counts: { [table]: erased.length }, hasMore: false }
      },
    })
    const failing: Eraser = { ...eraserOf('run'), erase: () => Promise.reject(new Error('not now')) }
    await database.query('insert into run values ($1), ($1)', [athleteId])
    await database.query('insert into nap values ($1)', [athleteId])
    const erase = async (...erasers: Eraser[]): Promise<Record<string, number>> =>
      (await database.transaction(async tx => await eraseSome(erasers, tx, { athleteId, vendor: 'strava', now: new Date(0) }, 9)))
        .counts
    await assert.rejects(erase(eraserOf('run'), failing), /not now/)
    assert.deepEqual(await erase(eraserOf('run'), eraserOf('nap'), eraserOf('nap')), { run: 2, nap: 1 })
  })
})
