// What can be asked of Oura. Ranges are local days; whether the last one is included is not published, so ask for a day more.
import { z } from 'zod'
import { entries, optional, pageOf, readsJson, readsNothing, readsPage, text, type Page, type Read } from '../shapes.ts'
import { requestOf, segment, type Ask, type Site } from '../site.ts'
import type { Charge, VendorRequest } from '../vendor.ts'
import { dailySleep, sleep, subscription, type OuraDailySleep, type OuraSleep, type OuraSubscription } from './wire.ts'

export const ONE_REQUEST: readonly Charge[] = [
  { pool: 'token', units: 1 },
  { pool: 'app', units: 1 },
]

interface OuraRange {
  /** YYYY-MM-DD, in the athlete's zone. */
  readonly startDate: string
  readonly endDate: string
  readonly nextToken?: string | undefined
}

export interface OuraEndpoints {
  sleepRange(range: OuraRange): VendorRequest<Page<OuraSleep>>
  sleepById(id: string): VendorRequest<OuraSleep>
  dailySleepRange(range: OuraRange): VendorRequest<Page<OuraDailySleep>>
  dailySleepById(id: string): VendorRequest<OuraDailySleep>
  createSubscription(ask: {
    readonly callbackUrl: string
    readonly verifyToken: string
    readonly eventType: 'create' | 'update' | 'delete'
    readonly dataType: 'sleep' | 'daily_sleep'
  }): VendorRequest<OuraSubscription>
  listSubscriptions(): VendorRequest<Page<OuraSubscription>>
  renewSubscription(id: string): VendorRequest<OuraSubscription>
  /** An unknown id is answered with 403, not 404. */
  deleteSubscription(id: string): VendorRequest<undefined>
}

/** `next_token` is null on the last page. */
const readsCollection = <T>(schema: z.ZodType<T>): Read<Page<T>> =>
  readsJson(
    z
      .object({ data: entries, next_token: optional(text) })
      .transform(({ data, next_token }) => ({ ...pageOf(schema, data), nextToken: next_token || undefined })),
  )

export function endpointsOf(site: Site): OuraEndpoints {
  const collection = (path: string, range?: OuraRange): string =>
    site.url(
      'api',
      `/v2/usercollection/${path}`,
      range && { start_date: range.startDate, end_date: range.endDate, next_token: range.nextToken },
    )
  const get = <T>(endpoint: string, url: string, read: Read<T>): VendorRequest<T> =>
    requestOf(site, { endpoint, url, cost: ONE_REQUEST, read })
  return {
    sleepRange: range => get('sleep-list', collection('sleep', range), readsCollection(sleep)),
    sleepById: id => get('sleep', collection(`sleep/${segment(id)}`), readsJson(sleep)),
    dailySleepRange: range => get('daily-sleep-list', collection('daily_sleep', range), readsCollection(dailySleep)),
    dailySleepById: id => get('daily-sleep', collection(`daily_sleep/${segment(id)}`), readsJson(dailySleep)),
    ...subscriptionsOf(site),
  }
}

type SubscriptionEndpoints = Omit<OuraEndpoints, 'sleepRange' | 'sleepById' | 'dailySleepRange' | 'dailySleepById'>

/** The application's own calls: its credentials in headers, no bearer token. */
function subscriptionsOf(site: Site): SubscriptionEndpoints {
  const { clientId, clientSecret } = site.credentials
  const own = <T>(path: string, ask: Pick<Ask<T>, 'method' | 'json' | 'read' | 'idempotent'>): VendorRequest<T> =>
    requestOf(site, {
      endpoint: 'webhook-subscriptions',
      url: site.url('api', `/v2/webhook/subscription${path}`),
      headers: { 'x-client-id': clientId, 'x-client-secret': clientSecret },
      cost: [{ pool: 'app', units: 1 }],
      authorised: false,
      ...ask,
    })
  return {
    createSubscription: ({ callbackUrl, verifyToken, eventType, dataType }) =>
      own('', {
        method: 'POST',
        json: { callback_url: callbackUrl, verification_token: verifyToken, event_type: eventType, data_type: dataType },
        read: readsJson(subscription),
      }),
    listSubscriptions: () => own('', { read: readsPage(subscription) }),
    renewSubscription: id => own(`/renew/${segment(id)}`, { method: 'PUT', idempotent: true, read: readsJson(subscription) }),
    deleteSubscription: id => own(`/${segment(id)}`, { method: 'DELETE', idempotent: true, read: readsNothing }),
  }
}
