// Strava's webhooks. Sources disagree on whether events are signed: with a secret configured a signature is demanded, without
// one an event is accepted if it names a subscription of ours. Either way it is only a hint to look.
import { z } from 'zod'
import { parseJson } from '../json.ts'
import { flag, id, optional, text, whole } from '../shapes.ts'
import type { Credentials } from '../vendor.ts'
import { answerChallenge, hmac, isFresh, isSame, isSameHex, proven, readsEvent, refused } from '../webhooks.ts'
import type { Delivery, Handshake, Proof, ProofOptions, WebhookEvent, Webhooks } from '../webhooks.ts'

const event = z.object({
  object_type: text,
  object_id: id,
  aspect_type: text,
  owner_id: id,
  subscription_id: optional(id),
  event_time: optional(whole),
  updates: optional(
    z.object({ title: optional(text), type: optional(text), private: optional(flag), authorized: optional(flag) }),
  ),
})
type Wire = z.infer<typeof event>
const subscribed = z.object({ subscription_id: id })

function handshake(query: Readonly<Record<string, string | undefined>>, verifyToken: string | undefined): Handshake {
  if (query['hub.mode'] !== 'subscribe') return refused('not a subscription')
  return answerChallenge(query, { token: 'hub.verify_token', challenge: 'hub.challenge' }, verifyToken)
}

/** `t=<seconds>,v1=<hex>` over `<t>.<body>`. */
function proveSignature({ headers, body }: Delivery, options: ProofOptions, secret: string): Proof {
  const parts = /^t=(\d{1,15}),v1=([0-9a-f]{64})$/i.exec(headers['x-strava-signature'] ?? '')
  if (parts === null) return refused('not signed')
  const [, timestamp = '', signature] = parts
  if (!isSameHex(hmac(secret, timestamp, '.', body), signature)) return refused('the signature does not match')
  return isFresh(timestamp, 1000, options) ? proven : refused('the timestamp is outside the replay window')
}

function proveSubscription(body: Uint8Array, ours: readonly string[]): Proof {
  const parsed = parseJson(body)
  const found = parsed.outcome === 'ok' ? subscribed.safeParse(parsed.value) : undefined
  const theirs = found?.data?.subscription_id
  return ours.some(one => isSame(one, theirs)) ? proven : refused('not a subscription of ours')
}

function prove(delivery: Delivery, options: ProofOptions, secret: string | undefined): Proof {
  const signed = secret === undefined ? undefined : proveSignature(delivery, options, secret)
  if (signed?.outcome === 'refused') return signed
  if (signed !== undefined && options.subscriptionIds === undefined) return signed
  return proveSubscription(delivery.body, options.subscriptionIds ?? [])
}

function eventOf(wire: Wire): WebhookEvent {
  const at = typeof wire.event_time === 'number' ? wire.event_time * 1000 : undefined
  const about = { owner: wire.owner_id, at }
  if (wire.object_type === 'athlete') {
    return wire.aspect_type === 'update' && wire.updates?.authorized === false
      ? { kind: 'deauthorised', ...about }
      : { kind: 'other', type: `athlete/${wire.aspect_type}` }
  }
  const object = { ...about, dataKind: 'activity', objectId: wire.object_id } as const
  if (wire.object_type !== 'activity') return { kind: 'other', type: wire.object_type }
  if (wire.aspect_type === 'delete') return { kind: 'deleted', ...object }
  if (wire.aspect_type === 'create' || wire.aspect_type === 'update')
    return { kind: 'changed', ...object, aspect: wire.aspect_type, updates: changesOf(wire.updates) }
  return { kind: 'other', type: `activity/${wire.aspect_type}` }
}

function changesOf(updates: Wire['updates']): { title?: string; type?: string; private?: boolean } {
  const kept = { title: updates?.title, type: updates?.type, private: updates?.private }
  return Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined && value !== null))
}

export const webhooksOf = ({ webhookVerifyToken, webhookSecret }: Credentials): Webhooks => ({
  handshake: query => handshake(query, webhookVerifyToken),
  prove: (delivery, options) => prove(delivery, options, webhookSecret),
  read: readsEvent(event, eventOf),
})
