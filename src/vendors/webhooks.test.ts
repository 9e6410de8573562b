// The two signed schemes, side by side: what one lets through by design (the case of hex) and what neither may.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { openVendor } from './vendors.ts'

const OWN = { clientId: 'c', clientSecret: 'client-secret' }
const NOW = 1_760_000_000_000
const options = { now: NOW, replayWindowMs: 300_000 }
const body = Buffer.from('{"event_type":"update","text":"é ünïcode"}')

interface Scheme {
  readonly name: 'oura' | 'whoop'
  readonly signature: string
  readonly timestamp: string
  readonly now: string
  readonly unitMs: number
  sign(secret: string, timestamp: string, body: Uint8Array): string
}
const sum = (secret: string, timestamp: string, bytes: Uint8Array) => createHmac('sha256', secret).update(timestamp).update(bytes)
const schemes: readonly Scheme[] = [
  {
    name: 'oura',
    signature: 'x-oura-signature',
    timestamp: 'x-oura-timestamp',
    now: String(NOW / 1000),
    unitMs: 1000,
    sign: (...parts) =>
      sum(...parts)
        .digest('hex')
        .toUpperCase(),
  },
  {
    name: 'whoop',
    signature: 'x-whoop-signature',
    timestamp: 'x-whoop-signature-timestamp',
    now: String(NOW),
    unitMs: 1,
    sign: (...parts) => sum(...parts).digest('base64'),
  },
]

const flip = <T extends Uint8Array>(bytes: T, bit: number): Buffer =>
  Buffer.from(bytes.map((byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte)))

for (const scheme of schemes) {
  const { webhooks } = openVendor(scheme.name, OWN)
  const good = scheme.sign(OWN.clientSecret, scheme.now, body)
  const prove = (signature: string | undefined, timestamp: string | undefined = scheme.now, bytes: Uint8Array = body) =>
    webhooks.prove({ headers: { [scheme.signature]: signature, [scheme.timestamp]: timestamp }, body: bytes }, options).outcome

  test(`${scheme.name}: the right signature over the very bytes is proven`, () => assert.equal(prove(good), 'proven'))

  test(`${scheme.name}: a webhook secret of its own replaces the client secret`, () => {
    const own = openVendor(scheme.name, { ...OWN, webhookSecret: 'another' }).webhooks
    const headers = (secret: string) => ({
      [scheme.signature]: scheme.sign(secret, scheme.now, body),
      [scheme.timestamp]: scheme.now,
    })
    assert.equal(own.prove({ headers: headers('another'), body }, options).outcome, 'proven')
    assert.equal(own.prove({ headers: headers(OWN.clientSecret), body }, options).outcome, 'refused')
  })

  test(`${scheme.name}: a flipped bit of the body is refused`, () => {
    fc.assert(fc.property(fc.nat(body.length * 8 - 1), bit => assert.equal(prove(good, scheme.now, flip(body, bit)), 'refused')))
  })

  test(`${scheme.name}: a flipped bit of the signature is refused, its case in hex excepted`, () => {
    for (let bit = 0; bit < good.length * 8; bit++) {
      const flipped = flip(Buffer.from(good), bit).toString('latin1')
      const isSame = scheme.name === 'oura' && flipped.toLowerCase() === good.toLowerCase()
      assert.equal(prove(flipped), isSame ? 'proven' : 'refused', `bit ${bit}`)
    }
  })

  test(`${scheme.name}: a flipped bit of the timestamp is refused`, () => {
    for (let bit = 0; bit < scheme.now.length * 8; bit++)
      assert.equal(prove(good, flip(Buffer.from(scheme.now), bit).toString('latin1')), 'refused', `bit ${bit}`)
  })

  test(`${scheme.name}: no header, no length and no other encoding passes`, () => {
    const digest = sum(OWN.clientSecret, scheme.now, body)
    const other = scheme.name === 'oura' ? digest.digest('base64') : digest.digest('hex')
    for (const wrong of [undefined, '', good.slice(1), good.slice(0, -1), `${good}0`, ` ${good}`, `${good}${good}`, other])
      assert.equal(prove(wrong), 'refused', wrong)
    assert.equal(webhooks.prove({ headers: { [scheme.signature]: good }, body }, options).outcome, 'refused')
    assert.equal(webhooks.prove({ headers: {}, body }, options).outcome, 'refused')
  })

  test(`${scheme.name}: a timestamp is good up to the edge of the replay window, on both sides`, () => {
    const at = (ms: number) => {
      const timestamp = String((NOW + ms) / scheme.unitMs)
      return prove(scheme.sign(OWN.clientSecret, timestamp, body), timestamp)
    }
    assert.deepEqual([at(-300_000), at(300_000)], ['proven', 'proven'])
    assert.deepEqual([at(-301_000), at(301_000), at(-86_400_000)], ['refused', 'refused', 'refused'])
  })

  test(`${scheme.name}: a signed timestamp that is none, or in the other unit, is refused`, () => {
    const otherUnit = scheme.unitMs === 1 ? String(NOW / 1000) : String(NOW)
    for (const timestamp of [
      otherUnit,
      `${scheme.now}.0`,
      ` ${scheme.now}`,
      `+${scheme.now}`,
      '',
      'now',
      '-1',
      '1e12',
      'NaN',
      '9'.repeat(40),
      '0x10',
    ])
      assert.equal(prove(scheme.sign(OWN.clientSecret, timestamp, body), timestamp), 'refused', timestamp)
  })

  test(`${scheme.name}: a body that was parsed and written again is refused`, () => {
    const again = Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, 1))
    assert.equal(prove(good, scheme.now, again), 'refused')
  })
}

test('Oura’s hex is taken in either case', () => {
  const [oura] = schemes
  assert(oura)
  const signature = oura.sign(OWN.clientSecret, oura.now, body).toLowerCase()
  const headers = { [oura.signature]: signature, [oura.timestamp]: oura.now }
  assert.equal(openVendor('oura', OWN).webhooks.prove({ headers, body }, options).outcome, 'proven')
})
