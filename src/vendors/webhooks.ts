// What all vendors' webhooks share: a handshake, a proof over the raw bytes in constant time, and events. The body is never
// trusted beyond its ids: whoever handles an event asks the vendor again (Garmin's pushed summaries are the exception, they are the data).
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { z } from 'zod'
import type { GarminActivity, GarminActivityDetails, GarminSleep } from './garmin/wire.ts'
import { parseJson } from './json.ts'
import { readValue, type Broken } from './shapes.ts'

export interface Delivery {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** As they came; a re-serialised body has another signature. */
  readonly body: Uint8Array
}

export interface ProofOptions {
  readonly now: number
  /** How old, or how far ahead, a signed timestamp may be. */
  readonly replayWindowMs: number
  /** Strava: the subscriptions that are ours. */
  readonly subscriptionIds?: readonly string[] | undefined
}

export type Proof = { readonly outcome: 'proven' } | { readonly outcome: 'refused'; readonly reason: string }

export type Handshake =
  | { readonly outcome: 'answer'; readonly body: Readonly<Record<string, string>> }
  | { readonly outcome: 'refused'; readonly reason: string }

export type DataKind = 'activity' | 'activity-details' | 'sleep' | 'daily-sleep' | 'workout' | 'recovery'

interface About {
  /** The vendor's id of the athlete. */
  readonly owner: string
  /** When the vendor says it happened, in ms. */
  readonly at?: number | undefined
  /** Same for every delivery of the same event, where the vendor gives one. */
  readonly eventId?: string | undefined
}

export type WebhookEvent =
  | (About & {
      readonly kind: 'changed'
      readonly dataKind: DataKind
      readonly objectId: string
      readonly aspect: 'create' | 'update'
      /** Strava says which fields changed. */
      readonly updates?: { readonly title?: string; readonly type?: string; readonly private?: boolean } | undefined
    })
  | (About & { readonly kind: 'deleted'; readonly dataKind: DataKind; readonly objectId: string })
  /** The athlete withdrew everything: that vendor's data goes. */
  | (About & { readonly kind: 'deauthorised' })
  | (About & { readonly kind: 'permissions'; readonly permissions: readonly string[] })
  /** Garmin's push: the data itself. Sent again under the same id as it grows. */
  | (About & { readonly kind: 'delivered'; readonly objectId: string } & GarminSummary)
  /** Garmin's ping: where the data can be fetched. The host of the URL was checked. */
  | (About & { readonly kind: 'announced'; readonly dataKind: DataKind; readonly callbackUrl: string })
  /** Proven and of no use to us: answered with 200 and forgotten. */
  | { readonly kind: 'other'; readonly type: string }

export type GarminSummary =
  | { readonly dataKind: 'activity'; readonly summary: GarminActivity }
  | { readonly dataKind: 'activity-details'; readonly summary: GarminActivityDetails }
  | { readonly dataKind: 'sleep'; readonly summary: GarminSleep }

export type Events =
  | { readonly outcome: 'ok'; readonly events: readonly WebhookEvent[]; readonly broken: readonly Broken[] }
  | { readonly outcome: 'malformed'; readonly reason: string }

export interface Webhooks {
  handshake(query: Readonly<Record<string, string | undefined>>): Handshake
  prove(delivery: Delivery, options: ProofOptions): Proof
  /** The whole proof, where it does not cover the body: then nothing unproven has to be read. */
  proveHeaders?(headers: Delivery['headers']): Proof
  read(body: Uint8Array): Events
}

export const proven: Proof = { outcome: 'proven' }
export const refused = (reason: string): { readonly outcome: 'refused'; readonly reason: string } => ({
  outcome: 'refused',
  reason,
})

export const NO_HANDSHAKE = refused('this vendor makes no handshake')

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Hashing first makes the lengths equal, so that not even the length of the secret shows in the time. */
export const isSame = (expected: string, given: string | undefined): boolean =>
  given !== undefined && timingSafeEqual(digest(expected), digest(given))

export function hmac(secret: string, ...parts: readonly (string | Uint8Array)[]): Buffer {
  const sum = createHmac('sha256', secret)
  for (const part of parts) sum.update(part)
  return sum.digest()
}

/** `Buffer.from` reads as much hex as it can and stops in silence, so the form is checked first. Either case. */
export const isSameHex = (expected: Buffer, given: string | undefined): boolean =>
  given !== undefined && /^[0-9a-f]{64}$/i.test(given) && timingSafeEqual(expected, Buffer.from(given, 'hex'))

/** The text is compared, not what it decodes to: base64 has spare bits, and two texts would pass. */
export const isSameBase64 = (expected: Buffer, given: string | undefined): boolean => isSame(expected.toString('base64'), given)

/** Whether a signed time, in units of so many ms, lies within the window on either side of now. */
export function isFresh(written: string | undefined, unitMs: number, { now, replayWindowMs }: ProofOptions): boolean {
  return written !== undefined && /^\d{1,15}$/.test(written) && Math.abs(now - Number(written) * unitMs) <= replayWindowMs
}

interface SignedBy {
  readonly secret: string
  readonly signatureHeader: string
  readonly timestampHeader: string
  readonly unitMs: number
  readonly isSame: (expected: Buffer, given: string | undefined) => boolean
}

/** Oura and WHOOP sign the timestamp header followed by the body, with nothing between. */
export function proveSigned({ headers, body }: Delivery, options: ProofOptions, by: SignedBy): Proof {
  const [signature, timestamp] = [headers[by.signatureHeader], headers[by.timestampHeader]]
  if (signature === undefined || timestamp === undefined) return refused('not signed')
  if (!by.isSame(hmac(by.secret, timestamp, body), signature)) return refused('the signature does not match')
  return isFresh(timestamp, by.unitMs, options) ? proven : refused('the timestamp is outside the replay window')
}

/** For vendors that send one event a body. */
export function readsEvent<T>(schema: z.ZodType<T>, eventOf: (wire: T) => WebhookEvent): Webhooks['read'] {
  return body => {
    const parsed = parseJson(body)
    const reading = parsed.outcome === 'ok' ? readValue(schema, parsed.value) : parsed
    return reading.outcome === 'ok' ? { outcome: 'ok', events: [eventOf(reading.value)], broken: [] } : reading
  }
}

const CHALLENGE_MAX = 1024

/** The vendor proves itself with our token and wants its challenge back under the same name. */
export function answerChallenge(
  query: Readonly<Record<string, string | undefined>>,
  names: { readonly token: string; readonly challenge: string },
  verifyToken: string | undefined,
): Handshake {
  const challenge = query[names.challenge]
  if (verifyToken === undefined) return refused('no verify token is configured')
  if (!isSame(verifyToken, query[names.token])) return refused('the verify token does not match')
  if (!challenge || challenge.length > CHALLENGE_MAX) return refused('no challenge')
  return { outcome: 'answer', body: { [names.challenge]: challenge } }
}
