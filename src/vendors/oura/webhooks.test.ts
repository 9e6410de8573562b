import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openVendor } from '../vendors.ts'

const { webhooks } = openVendor('oura', { clientId: 'c', clientSecret: 's', webhookVerifyToken: 'verify-me' })

const event = {
  event_type: 'update',
  data_type: 'sleep',
  object_id: 'd1',
  event_time: '2026-01-02T08:00:00+00:00',
  user_id: 'u1',
}
const at = Date.parse(event.event_time)
const read = (change: object) => webhooks.read(Buffer.from(JSON.stringify({ ...event, ...change })))

test('the handshake gives the challenge back, for our token only', () => {
  assert.deepEqual(webhooks.handshake({ verification_token: 'verify-me', challenge: 'x' }), {
    outcome: 'answer',
    body: { challenge: 'x' },
  })
  for (const query of [
    { challenge: 'x' },
    { verification_token: 'verify-m', challenge: 'x' },
    { verification_token: 'verify-me' },
  ])
    assert.equal(webhooks.handshake(query).outcome, 'refused')
  assert.equal(webhooks.handshake({ verification_token: 'verify-me', challenge: 'x'.repeat(1025) }).outcome, 'refused')
})

const rows: [name: string, change: object, expected: object][] = [
  ['a changed night', {}, { kind: 'changed', owner: 'u1', at, dataKind: 'sleep', objectId: 'd1', aspect: 'update' }],
  [
    'a new daily score',
    { event_type: 'create', data_type: 'daily_sleep' },
    { kind: 'changed', owner: 'u1', at, dataKind: 'daily-sleep', objectId: 'd1', aspect: 'create' },
  ],
  ['a deleted night', { event_type: 'delete' }, { kind: 'deleted', owner: 'u1', at, dataKind: 'sleep', objectId: 'd1' }],
  [
    'an event without a usable time',
    { event_time: 'now' },
    { kind: 'changed', owner: 'u1', at: undefined, dataKind: 'sleep', objectId: 'd1', aspect: 'update' },
  ],
  ['another kind of data', { data_type: 'tag' }, { kind: 'other', type: 'tag/update' }],
  ['a kind named like a property of every object', { data_type: 'constructor' }, { kind: 'other', type: 'constructor/update' }],
  ['another kind of event', { event_type: 'merge' }, { kind: 'other', type: 'sleep/merge' }],
]
for (const [name, change, expected] of rows) {
  test(`${name} is read as such`, () => assert.deepEqual(read(change), { outcome: 'ok', events: [expected], broken: [] }))
}

test('an event without an owner or an object is malformed', () => {
  for (const change of [{ user_id: undefined }, { object_id: null }, { data_type: 5 }])
    assert.equal(read(change).outcome, 'malformed')
})
