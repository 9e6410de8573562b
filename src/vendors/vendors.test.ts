import assert from 'node:assert/strict'
import { test } from 'node:test'
import { missingScopes, neededScopes, readingScopes, openVendor, vendorNames, vendors, type VendorName } from './vendors.ts'

const OWN = { clientId: 'our-id', clientSecret: 'our-secret' }
const ask = { redirectUri: 'https://paceline.example/callback', state: 'abc', scopes: ['a'] }

test('every vendor is behind the door under its own name', () => {
  assert.deepEqual(Object.keys(vendors).toSorted(), [...vendorNames].toSorted())
  for (const name of vendorNames) assert.equal(vendors[name].facts.name, name)
})

test('facts cannot be changed, at any depth', () => {
  const isFrozen = (value: unknown): boolean =>
    typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozen))
  for (const name of vendorNames) assert(isFrozen(vendors[name].facts), name)
})

const pools: [VendorName, string, string][] = [
  ['strava', 'read', 'app 15min 100 clock-quarter, day 1000 midnight-utc'],
  ['strava', 'overall', 'app 15min 200 clock-quarter, day 2000 midnight-utc'],
  ['garmin', 'requests', 'app minute 100 unknown'],
  ['garmin', 'backfill-days', 'app minute 100 unknown'],
  ['oura', 'token', 'token 5min 5000 rolling'],
  ['oura', 'app', 'app 5min 5000 rolling'],
  ['whoop', 'app', 'app minute 100 unknown, day 10000 unknown'],
  ['foursquare', 'users', 'token hour 500 unknown'],
]
for (const [vendor, pool, said] of pools) {
  test(`the pool ${pool} of ${vendor} is what its documents say`, () => {
    const found = vendors[vendor].facts.pools.find(({ name }) => name === pool)
    const windows = found?.windows.map(({ name, limit, alignment }) => `${name} ${limit} ${alignment}`).join(', ')
    assert.equal(`${found?.scope} ${windows}`, said)
  })
}

test('Strava waits for its window, Foursquare gives up', () => {
  assert.equal(vendors.strava.facts.whenSpent, 'resume')
  assert.equal(vendors.foursquare.facts.whenSpent, 'fail')
})

test('every request takes from pools that exist, and token calls from none', () => {
  for (const request of everyRequest()) {
    const known = vendors[request.vendor].facts.pools.map(({ name }) => name)
    for (const { pool, units } of request.cost) assert(known.includes(pool) && units >= 1, `${request.endpoint} ${pool}`)
    if (request.endpoint === 'token') assert.deepEqual(request.cost, [])
  }
})

const bases: [VendorName, string[]][] = [
  ['strava', ['https://www.strava.com']],
  ['garmin', ['https://connect.garmin.com', 'https://diauth.garmin.com', 'https://apis.garmin.com']],
  ['oura', ['https://cloud.ouraring.com', 'https://api.ouraring.com']],
  ['whoop', ['https://api.prod.whoop.com']],
  ['foursquare', ['https://foursquare.com', 'https://api.foursquare.com']],
]
for (const [name, hosts] of bases) {
  test(`a base URL replaces every host of ${name} and keeps the paths`, () => {
    const [theirs, ours] = [undefined, `http://127.0.0.1:9/${name}/`].map(baseUrl => {
      const { oauth } = openVendor(name, { ...OWN, baseUrl })
      const requests = [
        oauth.exchange({ code: 'c', redirectUri: ask.redirectUri }),
        oauth.identity(),
        oauth.revoke({ accessToken: 't' }),
      ]
      return [oauth.authoriseUrl(ask), ...requests.flatMap(request => request?.url ?? [])]
    })
    assert(theirs && ours)
    assert.deepEqual(new Set(theirs.map(url => new URL(url).origin)), new Set(hosts))
    const moved = theirs.map(url => url.replace(new URL(url).origin, `http://127.0.0.1:9/${name}`))
    assert.deepEqual(ours, moved)
  })
}

test('an unticked scope is missed, an implied one is not', () => {
  const { strava, whoop } = { strava: vendors.strava.facts, whoop: vendors.whoop.facts }
  assert.deepEqual(neededScopes(strava, { write: true }), ['read', 'activity:read', 'activity:read_all', 'activity:write'])
  assert.deepEqual(missingScopes(strava, ['read', 'activity:read']), ['activity:read_all'])
  assert.deepEqual(missingScopes(strava, ['read_all', 'activity:read_all'], { write: true }), ['activity:write'])
  assert.deepEqual(missingScopes(strava, ['read', 'activity:read_all']), [])
  const reading = ['activity:read', 'activity:read_all', 'read']
  assert.deepEqual(readingScopes(strava, ['read', 'activity:read_all', 'activity:write']), reading)
  assert.deepEqual(readingScopes(strava, ['activity:read_all', 'activity:read', 'read']), reading)
  assert.deepEqual(missingScopes(whoop, ['read:sleep', 'read:profile']), ['offline'])
  assert.deepEqual(missingScopes(vendors.foursquare.facts, []), [])
})

function everyRequest() {
  const strava = openVendor('strava', OWN).endpoints
  const garmin = openVendor('garmin', OWN).endpoints
  const oura = openVendor('oura', OWN).endpoints
  const whoop = openVendor('whoop', OWN).endpoints
  const oauth = vendorNames.map(name => openVendor(name, OWN).oauth)
  return [
    strava.activityList(),
    strava.updateActivity('1', {}),
    garmin.backfill('sleeps', { fromSeconds: 0, toSeconds: 86_401 }),
    oura.sleepById('1'),
    oura.listSubscriptions(),
    whoop.sleepRange({}),
    openVendor('foursquare', OWN).endpoints.checkins(),
    ...oauth.flatMap(one => [one.exchange({ code: 'c', redirectUri: 'r' }), one.refresh('r'), one.identity(), one.permissions()]),
  ].filter(request => request !== undefined)
}
