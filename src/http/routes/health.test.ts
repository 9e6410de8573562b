import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { SystemClock } from '../../kernel/clock.ts'
import { PartFailure } from '../http.ts'
import { openMetrics } from '../../telemetry/telemetry.ts'
import { assertRefused, openHttp } from '../../../test/http-fixture.ts'

const well = async (): Promise<void> => undefined
const never = (): Promise<void> => new Promise(() => undefined)
let checks = { database: well, bus: well }
beforeEach(() => {
  checks = { database: well, bus: well }
})

const metrics = openMetrics({ clock: new SystemClock(), version: '1.2.3' })
const fixture = await openHttp({
  parts: [
    { name: 'database', serves: true, check: () => checks.database() },
    { name: 'bus', check: () => checks.bus() },
  ],
  metrics: async () => ({ contentType: metrics.contentType, text: await metrics.text() }),
})
const { app, clock } = fixture
after(() => fixture.close())

/** Time moves on only when nothing else can happen. */
const ready = async () => await clock.runUntil(app.inject('/readyz'))

describe('readyz', () => {
  test('says what is there when everything is', async () => {
    const answer = await ready()
    assert.equal(answer.statusCode, 200)
    assert.deepEqual(answer.json(), { status: 'ready', parts: ['database', 'bus'] })
  })

  test('names the part that is down, with its reason, until it is back', async () => {
    checks.bus = () => Promise.reject(new Error('connect ECONNREFUSED 127.0.0.1:4222'))
    const { error, details } = assertRefused(await ready(), 503, 'PACE_NOT_READY')
    assert.equal(error, 'Not ready: bus.')
    assert.deepEqual(details, ['bus: connect ECONNREFUSED 127.0.0.1:4222'])
    checks.bus = well
    assert.equal((await ready()).statusCode, 200)
  })

  test('a part that misses once is asked again, and counts only when it misses twice', async () => {
    for (const misses of [1, 2]) {
      let asked = 0
      checks.bus = async () => {
        if (++asked <= misses) throw new Error('no answer within 200 ms')
      }
      assert.equal((await ready()).statusCode, misses === 1 ? 200 : 503)
      assert.equal(asked, 2)
    }
  })

  test('a part that hangs once and then answers is there', async () => {
    let asked = 0
    checks.bus = () => (++asked === 1 ? never() : well())
    assert.equal((await ready()).statusCode, 200)
  })

  test('for the api asks only for what serving needs', async () => {
    checks.bus = () => Promise.reject(new Error('away'))
    const serving = await clock.runUntil(app.inject('/readyz?for=api'))
    assert.deepEqual([serving.statusCode, serving.json()], [200, { status: 'ready', parts: ['database'] }])
    checks.database = () => Promise.reject(new Error('gone'))
    const { details } = assertRefused(await clock.runUntil(app.inject('/readyz?for=api')), 503, 'PACE_NOT_READY')
    assert.deepEqual(details, ['database: gone'])
    assert.equal((await app.inject('/readyz?for=worker')).statusCode, 400)
  })

  test('names the state of a part that answers and is not well', async () => {
    checks.bus = () => Promise.reject(new PartFailure('full', 'It takes no more messages.'))
    const { error, details } = assertRefused(await ready(), 503, 'PACE_NOT_READY')
    assert.equal(error, 'Not ready: bus full.')
    assert.deepEqual(details, ['bus full: It takes no more messages.'])
  })

  test('names every part that is down', async () => {
    checks = { database: () => Promise.reject(new Error('gone')), bus: () => Promise.reject(new Error('away')) }
    const { error, details } = assertRefused(await ready(), 503, 'PACE_NOT_READY')
    assert.equal(error, 'Not ready: database, bus.')
    assert.deepEqual(details, ['database: gone', 'bus: away'])
  })

  test('does not wait for a part that hangs, and is back when it is', async () => {
    checks.database = never
    const { details } = assertRefused(await ready(), 503, 'PACE_NOT_READY')
    assert.deepEqual(details, ['database: no answer within 2000 ms'])
    checks.database = well
    assert.equal((await ready()).statusCode, 200)
  })

  test('counts a check that throws at once as one that fails', async () => {
    checks.database = () => {
      throw new Error('no such server')
    }
    assert.deepEqual(assertRefused(await ready(), 503, 'PACE_NOT_READY').details, ['database: no such server'])
  })

  test('shows nobody the password in an address', async () => {
    checks.database = () => Promise.reject(new Error('cannot reach postgres://paceline:pace_secret@10.0.0.1/paceline'))
    const answer = await ready()
    assertRefused(answer, 503, 'PACE_NOT_READY')
    assert(!answer.body.includes('pace_secret'))
  })

  // node:test fails the test that is under way when a rejection is handled by nobody.
  test('is not disturbed by a check that fails after its deadline, nor by a deadline after its check', async () => {
    const late = Promise.withResolvers<void>()
    checks.database = () => late.promise
    assertRefused(await ready(), 503, 'PACE_NOT_READY')
    late.reject(new Error('too late for anybody'))
    await clock.runUntil(clock.sleep(10_000))
    checks.database = well
    assert.equal((await ready()).statusCode, 200)
    await clock.runUntil(clock.sleep(10_000))
  })
})

test('healthz answers also when nothing else does', async () => {
  checks = { database: never, bus: never }
  const answer = await app.inject('/healthz')
  assert.deepEqual([answer.statusCode, answer.json()], [200, { status: 'ok', version: '1.2.3', demo: false }])
})

test('metrics are Prometheus text, line by line', async () => {
  const answer = await app.inject('/metrics')
  assert.equal(answer.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
  const lines = answer.body.split('\n').filter(line => line !== '')
  const SAMPLE = /^[a-z_:][\w:]*(\{([a-z_]\w*="([^"\\\n]|\\.)*",?)*\})? ([+-]?(\d+(\.\d+)?(e[+-]?\d+)?|Inf)|NaN)$/i
  for (const line of lines) assert.match(line, line.startsWith('#') ? /^# (HELP|TYPE) [a-z_:][\w:]* \S/ : SAMPLE)
  assert(lines.includes(`paceline_build_info{version="1.2.3",node="${process.versions.node}"} 1`))
})
