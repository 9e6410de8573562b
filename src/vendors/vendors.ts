// The door. What each vendor is and how it speaks: limits, OAuth, shapes, webhook proof. Pure: nothing here calls, waits or
// knows the time, and nothing decides when to call.
import type { VendorName } from './facts.ts'
import { foursquare } from './foursquare/vendor.ts'
import { garmin } from './garmin/vendor.ts'
import { oura } from './oura/vendor.ts'
import { strava } from './strava/vendor.ts'
import type { Credentials, RateReport, Vendor, VendorResponse, Verdict } from './vendor.ts'
import { whoop } from './whoop/vendor.ts'

const all = { strava, garmin, oura, whoop, foursquare }

export const vendors: Readonly<Record<VendorName, Vendor>> = all

type Opened<N extends VendorName> = ReturnType<(typeof all)[N]['open']>

/** A vendor with an application's credentials, typed with its own endpoints. */
export const openVendor = <N extends VendorName>(name: N, credentials: Credentials): Opened<N> =>
  all[name].open(credentials) as Opened<N>

export const judge = (vendor: VendorName, response: VendorResponse, now: number): Verdict => vendors[vendor].judge(response, now)

export const rateReport = (vendor: VendorName, response: VendorResponse): RateReport | undefined =>
  vendors[vendor].rateReport(response)

export { saidAt, skewMs } from './rates.ts'
export { missingScopes, neededScopes, readingScopes, vendorNames, windowNames } from './facts.ts'
export type { Facts, Pool, VendorName, Window } from './facts.ts'
export type { Callback, TokenGrant } from './oauth.ts'
export type { Broken, Page } from './shapes.ts'
export type { OpenVendor, RateLimited, RateReport, VendorRequest, VendorResponse, Verdict } from './vendor.ts'
export type { Delivery, GarminSummary, WebhookEvent } from './webhooks.ts'
export { PER_PAGE_MAX as STRAVA_PER_PAGE_MAX, type StravaEndpoints } from './strava/endpoints.ts'
export { STREAM_KEYS, type StravaStreams } from './strava/streams.ts'
export type { StravaActivity, StravaActivityDetail, StravaLap, StravaPhoto } from './strava/wire.ts'
export { BACKFILL_DAYS_MAX as GARMIN_BACKFILL_DAYS_MAX, type GarminEndpoints } from './garmin/endpoints.ts'
export { isTentative, type GarminActivity, type GarminActivityDetails, type GarminSleep } from './garmin/wire.ts'
export type { OuraEndpoints } from './oura/endpoints.ts'
export type { OuraDailySleep, OuraSleep } from './oura/wire.ts'
export type { WhoopEndpoints } from './whoop/endpoints.ts'
export type { WhoopSleep } from './whoop/wire.ts'
export { LIMIT_MAX as FOURSQUARE_LIMIT_MAX, type FoursquareEndpoints } from './foursquare/endpoints.ts'
export type { FoursquareCheckin } from './foursquare/wire.ts'
