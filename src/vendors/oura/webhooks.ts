// Oura's webhooks: a handshake per subscription, events signed in hex over the timestamp (seconds) and the body.
import { z } from 'zod'
import { id, instant, optional, text } from '../shapes.ts'
import type { Credentials } from '../vendor.ts'
import { answerChallenge, isSameHex, proveSigned, readsEvent } from '../webhooks.ts'
import type { DataKind, WebhookEvent, Webhooks } from '../webhooks.ts'

const event = z.object({
  event_type: text,
  data_type: text,
  object_id: id,
  user_id: id,
  event_time: optional(instant),
})

const DATA_KINDS: Readonly<Record<string, DataKind>> = { sleep: 'sleep', daily_sleep: 'daily-sleep' }
function eventOf(wire: z.infer<typeof event>): WebhookEvent {
  const dataKind = Object.hasOwn(DATA_KINDS, wire.data_type) ? DATA_KINDS[wire.data_type] : undefined
  const type = `${wire.data_type}/${wire.event_type}`.slice(0, 100)
  if (dataKind === undefined) return { kind: 'other', type }
  const at = typeof wire.event_time === 'string' ? Date.parse(wire.event_time) : undefined
  const object = { owner: wire.user_id, at, dataKind, objectId: wire.object_id }
  if (wire.event_type === 'delete') return { kind: 'deleted', ...object }
  if (wire.event_type === 'create' || wire.event_type === 'update') return { kind: 'changed', ...object, aspect: wire.event_type }
  return { kind: 'other', type }
}

export const webhooksOf = ({ clientSecret, webhookSecret, webhookVerifyToken }: Credentials): Webhooks => ({
  handshake: query => answerChallenge(query, { token: 'verification_token', challenge: 'challenge' }, webhookVerifyToken),
  prove: (delivery, options) =>
    proveSigned(delivery, options, {
      secret: webhookSecret ?? clientSecret,
      signatureHeader: 'x-oura-signature',
      timestampHeader: 'x-oura-timestamp',
      unitMs: 1000,
      isSame: isSameHex,
    }),
  read: readsEvent(event, eventOf),
})
