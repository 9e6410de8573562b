// Foursquare's envelope around every answer: the status again as `meta.code`, the reason as `meta.errorType`, the content as
// `response`.
import type { Random } from '../../kernel/random.ts'
import { json, type Answer } from '../answer.ts'
import { hexOf } from '../world/keyed-random.ts'

interface EnvelopeMore {
  readonly problem?: { readonly errorType: string; readonly errorDetail: string }
  readonly headers?: Readonly<Record<string, string>>
  /** For `meta.code`, if it differs from the status. */
  readonly code?: number
}

export const envelope = (
  random: Random,
  status: number,
  response: unknown,
  { problem, headers, code }: EnvelopeMore = {},
): Answer =>
  json(
    status,
    { meta: { code: code ?? status, ...problem, requestId: hexOf(random, 12) }, ...(status === 200 ? tray : {}), response },
    headers,
  )

const tray = { notifications: [{ type: 'notificationTray', item: { unreadCount: 0 } }] }
