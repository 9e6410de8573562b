// One count, wherever it is looked at: the athlete's route, the operator's, the command line and the figures agree.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../../src/config.ts'
import { openEngine } from '../../src/engine.ts'
import { ROLES } from '../../src/roles.ts'
import { openLog } from '../../src/telemetry/telemetry.ts'
import { vendorNames, type VendorName } from '../../src/vendors/vendors.ts'
import { install, type Headers, type Installation } from '../programs/installation.ts'
import { prepareFolder, testFolder } from '../stores.ts'
import { until } from '../waiting.ts'

interface Window {
  readonly window: string
  readonly limit: number
  readonly used: number
}
interface State {
  readonly vendor: string
  readonly pools: readonly { readonly pool: string; readonly windows: readonly Window[] }[]
}
interface Usage {
  readonly vendor: string
  readonly endpoints: readonly { readonly endpoint: string; readonly calls: number }[]
  readonly athletes: readonly { readonly athleteId: string | null; readonly calls: number }[]
}

/** Some are not asked, so that there is one without any call. */
const CONNECTED: readonly VendorName[] = ['strava', 'whoop', 'foursquare']

/** Minutes pass while a test runs, days hardly: the longest window of the first pool is compared. */
function longest(items: readonly State[], vendor: string): Window | undefined {
  return items.find(item => item.vendor === vendor)?.pools[0]?.windows.at(-1)
}

describe('the quota, from everywhere', () => {
  let the: Installation
  let athleteId: string
  let mine: Headers
  let operator: Headers
  before(async () => {
    the = await install({ activities: 5, vendors: vendorNames })
    ;({ id: athleteId, headers: mine } = await the.athlete())
    const secrets = JSON.parse(readFileSync(join(the.folder, '.paceline', 'secrets.json'), 'utf8')) as { adminToken: string }
    operator = { authorization: `Bearer ${secrets.adminToken}` }
    for (const vendor of CONNECTED) {
      await the.connect(athleteId, vendor)
      await the.ask(mine, 'POST', '/v1/imports', { vendor, type: 'full' })
    }
    // Then nobody calls WHOOP any more, however slowly the tests go on.
    const isDone =
      (name: VendorName) =>
      (item: { vendor: string; status: string }): boolean =>
        item.vendor === name && item.status === 'completed'
    await until(async () => {
      const { items } = await the.ask<{ items: { vendor: string; status: string }[] }>(mine, 'GET', '/v1/imports')
      return CONNECTED.every(name => items.some(isDone(name)))
    })
  })
  after(() => the.stop())

  const get = async <T>(path: string, headers: Headers): Promise<T> => {
    const response = await fetch(`${the.server.url}${path}`, { headers })
    assert.equal(response.status, 200)
    return (await response.json()) as T
  }
  const usageOf = async (vendor: string): Promise<Usage | undefined> =>
    (await get<{ usage: Usage[] }>('/admin/quota', operator)).usage.find(one => one.vendor === vendor)

  test('the athlete, the operator, the command line and the figures see the same count', async () => {
    const { items } = await get<{ items: State[] }>('/v1/quota', mine)
    assert.deepEqual(
      items.map(({ vendor }) => vendor),
      vendorNames,
    )
    const { used = 0, ...whoop } = longest(items, 'whoop') ?? {}
    assert.partialDeepStrictEqual(whoop, { window: 'day', limit: 10_000 })
    assert(used > 0)
    const everyones = await get<{ items: State[] }>('/admin/quota?days=35', operator)
    assert.deepEqual(longest(everyones.items, 'whoop'), longest(items, 'whoop'))
    const printed = await the.run('quota', '--days', '35', '--json')
    assert.equal(printed.code, 0)
    assert.deepEqual(longest((JSON.parse(printed.out) as { items: State[] }).items, 'whoop'), longest(items, 'whoop'))
    const figures = await (await fetch(`${the.server.url}/metrics`)).text()
    assert.match(figures, new RegExp(`^paceline_quota_used\\{vendor="whoop",pool="app",window="day"\\} ${used}$`, 'm'))
    assert.match(figures, /^paceline_quota_limit\{vendor="whoop",pool="app",window="day"\} 10000$/m)
    assert.match(figures, /^paceline_quota_limit\{vendor="strava",pool="read",window="15min"\} 100$/m)
    assert.doesNotMatch(figures, /paceline_quota_\w+\{vendor="foursquare"/)
    assert(!figures.includes(athleteId))
  })

  test('every call is told, also the one that costs nothing, with whose it was', async () => {
    // The imports have called too.
    const strava = await usageOf('strava')
    assert.equal(strava?.endpoints.find(({ endpoint }) => endpoint === 'token')?.calls, 1)
    assert.deepEqual(
      strava.athletes.map(one => one.athleteId),
      [athleteId],
    )
    assert.deepEqual((await usageOf('garmin'))?.athletes, [])
  })

  test('the command line draws what is used, names who spent it, and is short where nothing was', async () => {
    const { code, out } = await the.run('quota')
    assert.equal(code, 0)
    const { used } = longest((await get<{ items: State[] }>('/v1/quota', mine)).items, 'whoop') ?? {}
    assert.match(out, new RegExp(`^ {2}app +day +\\[#\\.{19}\\] +${used}/4750 \\(limit 10000\\) +resets 00:00 UTC$`, 'm'))
    const [ada] = (await usageOf('whoop'))?.athletes ?? []
    assert.match(out, new RegExp(`^ {4} +${ada?.calls} {2}Ada \\(${athleteId}\\)$`, 'm'))
    assert.match(out, /^ {4} +1 {2}token, live$/m)
    assert.match(out, /^strava(: nothing used now.*)?$/m)
    assert.match(out, /^garmin: nothing used now\noura: nothing used now\nwhoop\n/m)
    assert.match(out, /^foursquare: every athlete's token has a quota of its own/m)
  })

  test("with an athlete it shows their own tokens' pools, and of the calls only theirs", async () => {
    const printed = await the.run('quota', '--athlete', athleteId, '--json')
    const { items, usage } = JSON.parse(printed.out) as { items: State[]; usage: Usage[] }
    const foursquare = items.find(({ vendor }) => vendor === 'foursquare')
    assert.deepEqual(
      foursquare?.pools.map(({ pool }) => pool),
      ['users'],
    )
    const callers = usage.flatMap(({ athletes }) => athletes.map(one => one.athleteId))
    assert.deepEqual(new Set(callers), new Set([athleteId]))
  })

  test('the command line says what it does not take', async () => {
    for (const days of ['0', '36', 'seven', '1.5']) assert.equal((await the.run('quota', '--days', days)).code, 2)
    assert.equal((await the.run('quota', '--athlete', 'nobody')).code, 1)
  })

  test('who disconnects is named no longer, and what was spent stays spent', async () => {
    const left = await fetch(`${the.server.url}/v1/connections/whoop`, { method: 'DELETE', headers: mine })
    const { receipt } = (await left.json()) as { receipt: { counts: object } }
    assert.partialDeepStrictEqual(receipt.counts, { connection: 1 })
    const whoop = await usageOf('whoop')
    assert.deepEqual(
      whoop?.athletes.map(one => one.athleteId),
      [null],
    )
    const { items } = await get<{ items: State[] }>('/v1/quota', mine)
    assert((longest(items, 'whoop')?.used ?? 0) >= 1)
    assert.deepEqual(
      (await usageOf('strava'))?.athletes.map(one => one.athleteId),
      [athleteId],
    )
  })
})

test('what is too old is forgotten every day', async t => {
  const folder = testFolder()
  await prepareFolder(folder.path)
  const log = openLog({ level: 'silent', pretty: false })
  const config = readConfig({ PACELINE_PORT: '0' })
  // A day a second.
  const options = { config, version: '0.0.0', log, folder: folder.path, demo: false, speed: 86_400, roles: ROLES }
  const engine = await openEngine(options)
  t.after(async () => {
    await engine.close()
    folder.remove()
  })
  await engine.service.start()
  await until(async () =>
    (await engine.app.inject('/metrics')).body.includes('paceline_bell_rings_total{bell="quota-prune",outcome="done"}'),
  )
})
