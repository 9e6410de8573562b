// WHOOP's webhooks: no handshake, signed in base64 over the timestamp (milliseconds) and the body. Creation arrives as
// `updated`; a recovery is named by its sleep.
import { z } from 'zod'
import { id, optional, text } from '../shapes.ts'
import type { Credentials } from '../vendor.ts'
import { isSameBase64, NO_HANDSHAKE, proveSigned, readsEvent, type WebhookEvent, type Webhooks } from '../webhooks.ts'

const event = z.object({ user_id: id, id, type: text, trace_id: optional(id) })

function eventOf(wire: z.infer<typeof event>): WebhookEvent {
  const [, dataKind, aspect] = /^(workout|sleep|recovery)\.(updated|deleted)$/.exec(wire.type) ?? []
  if (dataKind !== 'workout' && dataKind !== 'sleep' && dataKind !== 'recovery')
    return { kind: 'other', type: wire.type.slice(0, 100) }
  const object = { owner: wire.user_id, eventId: wire.trace_id ?? undefined, dataKind, objectId: wire.id } as const
  return aspect === 'deleted' ? { kind: 'deleted', ...object } : { kind: 'changed', ...object, aspect: 'update' }
}

export const webhooksOf = ({ clientSecret, webhookSecret }: Credentials): Webhooks => ({
  handshake: () => NO_HANDSHAKE,
  prove: (delivery, options) =>
    proveSigned(delivery, options, {
      secret: webhookSecret ?? clientSecret,
      signatureHeader: 'x-whoop-signature',
      timestampHeader: 'x-whoop-signature-timestamp',
      unitMs: 1,
      isSame: isSameBase64,
    }),
  read: readsEvent(event, eventOf),
})
