import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openVendor, type VendorRequest } from '../vendors.ts'

const { endpoints } = openVendor('strava', { clientId: '5', clientSecret: 's' })
const api = 'https://www.strava.com/api/v3'
const both = 'read 1, overall 1'

const rows: [request: VendorRequest<unknown>, line: string, more: string][] = [
  [endpoints.activityList(), `GET ${api}/athlete/activities?page=1&per_page=200`, `activity-list authorised again ${both}`],
  [
    endpoints.activityList({ beforeSeconds: 20, afterSeconds: 10, page: 2, perPage: 30 }),
    `GET ${api}/athlete/activities?before=20&after=10&page=2&per_page=30`,
    `activity-list authorised again ${both}`,
  ],
  [
    endpoints.activityDetail('18446744073709551615'),
    `GET ${api}/activities/18446744073709551615`,
    `activity-detail authorised again ${both}`,
  ],
  [
    endpoints.activityPhotos('9'),
    `GET ${api}/activities/9/photos?size=5000&photo_sources=true`,
    `activity-photos authorised again ${both}`,
  ],
  [endpoints.updateActivity('9', { description: 'x' }), `PUT ${api}/activities/9`, `activity-update authorised again ${both}`],
  [
    endpoints.createSubscription({ callbackUrl: 'https://x', verifyToken: 'v' }),
    `POST ${api}/push_subscriptions`,
    `push-subscriptions own once ${both}`,
  ],
  [
    endpoints.listSubscriptions(),
    `GET ${api}/push_subscriptions?client_id=5&client_secret=s`,
    `push-subscriptions own again ${both}`,
  ],
  [
    endpoints.deleteSubscription('1'),
    `DELETE ${api}/push_subscriptions/1?client_id=5&client_secret=s`,
    `push-subscriptions own again ${both}`,
  ],
]
for (const [request, line, more] of rows) {
  test(`${line} is how Strava wants to be asked`, () => {
    assert.equal(`${request.method} ${request.url}`, line)
    const cost = request.cost.map(({ pool, units }) => `${pool} ${units}`).join(', ')
    const manner = [request.authorised ? 'authorised' : 'own', request.idempotent ? 'again' : 'once'].join(' ')
    assert.equal(`${request.endpoint} ${manner} ${cost}`, more)
  })
}

test('an update carries its fields as JSON, a subscription as a form', () => {
  const update = endpoints.updateActivity('9', { name: 'a "b"', gear_id: 'none' })
  assert.equal(update.body, '{"name":"a \\"b\\"","gear_id":"none"}')
  assert.equal(update.headers?.['content-type'], 'application/json')
  const create = endpoints.createSubscription({ callbackUrl: 'https://x/y?z', verifyToken: 'v' })
  assert.equal(create.body, 'client_id=5&client_secret=s&callback_url=https%3A%2F%2Fx%2Fy%3Fz&verify_token=v')
})

test('milliseconds, pages too large and ids that climb are mistakes of ours', () => {
  assert.throws(() => endpoints.activityList({ beforeSeconds: 1_760_000_000_000 }), /seconds/)
  assert.throws(() => endpoints.activityList({ perPage: 201 }), /200/)
  for (const id of ['..', '../athlete', '', '1/laps', '1?x']) assert.throws(() => endpoints.activityDetail(id), /id/, id)
})
