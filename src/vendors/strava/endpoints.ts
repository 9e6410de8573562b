// What can be asked of Strava. Times are epoch seconds: Strava would answer milliseconds with a 400 about the future.
import assert from 'node:assert/strict'
import { readsJson, readsNothing, readsPage, type Page } from '../shapes.ts'
import { requestOf, segment, type Ask, type Query, type Site } from '../site.ts'
import type { Charge, VendorRequest } from '../vendor.ts'
import { readsStreams, STREAM_KEYS, type StravaStreams } from './streams.ts'
import { detail, photo, pushSubscription, summary } from './wire.ts'
import type { StravaActivity, StravaActivityDetail, StravaPhoto, StravaPushSubscription } from './wire.ts'

export const PER_PAGE_MAX = 200
const PHOTO_SIZE_PIXELS = 5000

const ONE_READ: readonly Charge[] = [
  { pool: 'read', units: 1 },
  { pool: 'overall', units: 1 },
]

interface StravaUpdate {
  readonly name?: string
  readonly description?: string
  readonly sport_type?: string
  /** "none" takes the gear away. */
  readonly gear_id?: string
  readonly commute?: boolean
  readonly trainer?: boolean
  readonly hide_from_home?: boolean
}

export interface StravaEndpoints {
  /** Newest first; oldest first with `afterSeconds` alone. Sorted by start, not by id. The end is an empty page, not a short one. */
  activityList(ask?: {
    readonly beforeSeconds?: number
    readonly afterSeconds?: number
    readonly page?: number
    readonly perPage?: number
  }): VendorRequest<Page<StravaActivity>>
  activityDetail(activityId: string): VendorRequest<StravaActivityDetail>
  activityPhotos(activityId: string): VendorRequest<Page<StravaPhoto>>
  /** A 404 means: none, or not yet. */
  activityStreams(activityId: string): VendorRequest<StravaStreams>
  updateActivity(activityId: string, update: StravaUpdate): VendorRequest<StravaActivityDetail>
  /** Strava calls the callback while this is under way. */
  createSubscription(ask: { readonly callbackUrl: string; readonly verifyToken: string }): VendorRequest<StravaPushSubscription>
  listSubscriptions(): VendorRequest<Page<StravaPushSubscription>>
  deleteSubscription(id: string): VendorRequest<undefined>
}

const isSeconds = (at: number | undefined): boolean => at === undefined || (Number.isInteger(at) && at >= 0 && at < 1e11)

export function endpointsOf(site: Site): StravaEndpoints {
  const metered = <T>(ask: Ask<T>): VendorRequest<T> => requestOf(site, { cost: ONE_READ, ...ask })
  const activity = (activityId: string, rest = '', query: Query = {}): string =>
    site.url('api', `/api/v3/activities/${segment(activityId)}${rest}`, query)
  return {
    activityList: ask => metered({ endpoint: 'activity-list', url: listUrl(site, ask), read: readsPage(summary) }),
    activityDetail: activityId => metered({ endpoint: 'activity-detail', url: activity(activityId), read: readsJson(detail) }),
    activityPhotos: activityId =>
      metered({
        endpoint: 'activity-photos',
        url: activity(activityId, '/photos', { size: PHOTO_SIZE_PIXELS, photo_sources: true }),
        read: readsPage(photo, 'unique_id'),
      }),
    activityStreams: activityId =>
      metered({
        endpoint: 'activity-streams',
        url: activity(activityId, '/streams', { keys: STREAM_KEYS.join(','), key_by_type: true }),
        read: readsStreams,
      }),
    updateActivity: (activityId, update) =>
      metered({
        endpoint: 'activity-update',
        method: 'PUT',
        url: activity(activityId),
        json: update,
        idempotent: true,
        read: readsJson(detail),
      }),
    ...subscriptionsOf(site),
  }
}

function listUrl(site: Site, ask: Parameters<StravaEndpoints['activityList']>[0] = {}): string {
  assert(isSeconds(ask.beforeSeconds) && isSeconds(ask.afterSeconds), 'Strava counts in whole seconds')
  const perPage = ask.perPage ?? PER_PAGE_MAX
  assert(perPage >= 1 && perPage <= PER_PAGE_MAX, `a page has at most ${PER_PAGE_MAX}`)
  return site.url('api', '/api/v3/athlete/activities', {
    before: ask.beforeSeconds,
    after: ask.afterSeconds,
    page: ask.page ?? 1,
    per_page: perPage,
  })
}

type SubscriptionEndpoints = Pick<StravaEndpoints, 'createSubscription' | 'listSubscriptions' | 'deleteSubscription'>

/** The application's own calls: credentials in the form or the query, no bearer token. */
function subscriptionsOf(site: Site): SubscriptionEndpoints {
  const own = { client_id: site.credentials.clientId, client_secret: site.credentials.clientSecret }
  const url = (rest = '', query: Query = {}): string => site.url('api', `/api/v3/push_subscriptions${rest}`, query)
  const base = { endpoint: 'push-subscriptions', authorised: false, cost: ONE_READ }
  return {
    createSubscription: ({ callbackUrl, verifyToken }) =>
      requestOf(site, {
        ...base,
        method: 'POST',
        url: url(),
        form: { ...own, callback_url: callbackUrl, verify_token: verifyToken },
        read: readsJson(pushSubscription),
      }),
    listSubscriptions: () => requestOf(site, { ...base, url: url('', own), read: readsPage(pushSubscription) }),
    deleteSubscription: id =>
      requestOf(site, {
        ...base,
        method: 'DELETE',
        url: url(`/${segment(id)}`, own),
        idempotent: true,
        read: readsNothing,
      }),
  }
}
