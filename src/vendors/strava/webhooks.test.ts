import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { openVendor } from '../vendors.ts'

const OWN = { clientId: '5', clientSecret: 's', webhookVerifyToken: 'verify-me' }
const unsigned = openVendor('strava', OWN).webhooks
const signed = openVendor('strava', { ...OWN, webhookSecret: 'hush' }).webhooks
const NOW = 1_760_000_000_000
const options = { now: NOW, replayWindowMs: 300_000, subscriptionIds: ['5'] }

const created = {
  object_type: 'activity',
  object_id: 123,
  aspect_type: 'create',
  updates: {},
  owner_id: 7,
  subscription_id: 5,
  event_time: 1_760_000_000,
}
const bytes = (change: object = {}) => Buffer.from(JSON.stringify({ ...created, ...change }))

const challenge = { 'hub.mode': 'subscribe', 'hub.challenge': 'c-1', 'hub.verify_token': 'verify-me' }

test('the handshake gives the challenge back under its dotted name', () => {
  assert.deepEqual(unsigned.handshake(challenge), { outcome: 'answer', body: { 'hub.challenge': 'c-1' } })
})

test('a handshake with another token, mode or no challenge is refused', () => {
  const changes = [
    { 'hub.verify_token': 'verify-mE' },
    { 'hub.verify_token': undefined },
    { 'hub.mode': 'x' },
    { 'hub.challenge': '' },
  ]
  for (const change of changes) assert.equal(unsigned.handshake({ ...challenge, ...change }).outcome, 'refused')
  const { webhookVerifyToken: _, ...without } = OWN
  assert.equal(
    openVendor('strava', without).webhooks.handshake({ ...challenge, 'hub.verify_token': undefined }).outcome,
    'refused',
  )
})

const events: [name: string, change: object, event: object][] = [
  [
    'a new activity',
    {},
    { kind: 'changed', owner: '7', at: NOW, dataKind: 'activity', objectId: '123', aspect: 'create', updates: {} },
  ],
  [
    'a changed title and privacy',
    { aspect_type: 'update', updates: { title: 'x', private: 'true' } },
    {
      kind: 'changed',
      owner: '7',
      at: NOW,
      dataKind: 'activity',
      objectId: '123',
      aspect: 'update',
      updates: { title: 'x', private: true },
    },
  ],
  [
    'a create without updates',
    { updates: undefined, event_time: undefined },
    { kind: 'changed', owner: '7', at: undefined, dataKind: 'activity', objectId: '123', aspect: 'create', updates: {} },
  ],
  ['a deletion', { aspect_type: 'delete' }, { kind: 'deleted', owner: '7', at: NOW, dataKind: 'activity', objectId: '123' }],
  [
    'a deauthorisation',
    { object_type: 'athlete', object_id: 7, aspect_type: 'update', updates: { authorized: 'false' } },
    { kind: 'deauthorised', owner: '7', at: NOW },
  ],
  [
    'an athlete’s other change',
    { object_type: 'athlete', object_id: 7, aspect_type: 'update', updates: { authorized: 'true' } },
    { kind: 'other', type: 'athlete/update' },
  ],
  [
    'an athlete deleted, which Strava does not document',
    { object_type: 'athlete', aspect_type: 'delete' },
    { kind: 'other', type: 'athlete/delete' },
  ],
  ['an unknown object', { object_type: 'club' }, { kind: 'other', type: 'club' }],
]
for (const [name, change, event] of events) {
  test(`${name} is read as such`, () =>
    assert.deepEqual(unsigned.read(bytes(change)), { outcome: 'ok', events: [event], broken: [] }))
}

test('an object id of 64 bits survives', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n }), id => {
      const read = unsigned.read(
        Buffer.from(`{"object_type":"activity","object_id":${id},"aspect_type":"delete","owner_id":${id}}`),
      )
      assert(read.outcome === 'ok' && read.events[0]?.kind === 'deleted')
      assert.deepEqual([read.events[0].objectId, read.events[0].owner], [String(id), String(id)])
    }),
  )
})

test('without a secret, an event of our subscription is accepted and any other refused', () => {
  const prove = (change: object, ids: string[] | undefined = ['5']) =>
    unsigned.prove({ headers: {}, body: bytes(change) }, { ...options, subscriptionIds: ids }).outcome
  assert.equal(prove({}), 'proven')
  assert.equal(prove({ subscription_id: 6 }), 'refused')
  assert.equal(prove({ subscription_id: undefined }), 'refused')
  assert.equal(prove({}, []), 'refused')
  assert.equal(unsigned.prove({ headers: {}, body: bytes() }, { now: NOW, replayWindowMs: 1 }).outcome, 'refused')
  assert.equal(unsigned.prove({ headers: {}, body: Buffer.from('{') }, options).outcome, 'refused')
})

function sign(body: Uint8Array, seconds = NOW / 1000): string {
  return `t=${seconds},v1=${createHmac('sha256', 'hush').update(`${seconds}.`).update(body).digest('hex')}`
}
const proveSigned = (signature: string | undefined, body = bytes(), ids: string[] | undefined = ['5']) =>
  signed.prove({ headers: { 'x-strava-signature': signature }, body }, { ...options, subscriptionIds: ids }).outcome

test('with a secret, only a fresh signature over the very bytes is accepted, and only of our subscription', () => {
  const other = bytes({ subscription_id: 6 })
  assert.equal(proveSigned(sign(bytes())), 'proven')
  assert.equal(
    signed.prove({ headers: { 'x-strava-signature': sign(other) }, body: other }, { now: NOW, replayWindowMs: 1 }).outcome,
    'proven',
  )
  assert.equal(proveSigned(sign(other), other), 'refused')
  assert.equal(proveSigned(undefined), 'refused')
  assert.equal(proveSigned(sign(bytes()), Buffer.from(JSON.stringify({ ...created }, null, 1))), 'refused')
  assert.equal(proveSigned(sign(bytes(), NOW / 1000 - 300)), 'proven')
  assert.equal(proveSigned(sign(bytes(), NOW / 1000 - 301)), 'refused')
  assert.equal(proveSigned(sign(bytes(), NOW / 1000 + 301)), 'refused')
  for (const odd of [
    '',
    't=,v1=',
    'v1=abc',
    `${sign(bytes())},v0=1`,
    sign(bytes()).replace('t=', 't=-'),
    sign(bytes()).slice(0, -1),
  ])
    assert.equal(proveSigned(odd), 'refused', odd)
})

test('a flipped bit anywhere in a signed body is noticed', () => {
  const body = bytes()
  fc.assert(
    fc.property(fc.nat(body.length * 8 - 1), bit => {
      const flipped = Uint8Array.from(body, (byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte))
      assert.equal(proveSigned(sign(body), Buffer.from(flipped)), 'refused')
    }),
  )
})
