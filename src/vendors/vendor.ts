// The vocabulary of the room: what a vendor is (facts), what is asked of it (requests) and what its answers mean (verdicts).
// Nothing here calls, waits or knows the time: calls/ sends, quota/ decides when, accounts/ keeps the tokens.
import type { Facts, VendorName } from './facts.ts'
import type { OAuth } from './oauth.ts'
import type { Webhooks } from './webhooks.ts'

/** What came back, before anyone judged it. Header names are lower-case. */
export interface VendorResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export type Reading<T> =
  | { readonly outcome: 'ok'; readonly value: T }
  | { readonly outcome: 'malformed'; readonly reason: string }
  | { readonly outcome: 'absent' }

export interface Charge {
  readonly pool: string
  readonly units: number
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** A request described by vendors/, sent by calls/. The URL of some token and subscription calls holds the client secret: log `endpoint`. */
export interface VendorRequest<T> {
  readonly vendor: VendorName
  /** A short label for ledger and metrics: 'activity-list', 'token'. */
  readonly endpoint: string
  readonly method: Method
  /** Absolute. */
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Needs the bearer token, which accounts/ adds. */
  readonly authorised: boolean
  /** May be sent again after a transient failure. */
  readonly idempotent: boolean
  /** What it takes from the vendor's pools; empty for token calls. */
  readonly cost: readonly Charge[]
  /** Reads a 2xx body and throws nothing: a wrong shape is `malformed`, a right shape with nothing in it may be `absent`. */
  read(response: VendorResponse): Reading<T>
}

export interface RateLimited {
  readonly outcome: 'rate_limited'
  /** Milliseconds since 1970, always after the `now` of the verdict; undefined when the vendor does not say. */
  readonly retryAt: number | undefined
  readonly scope: 'short' | 'day' | 'unknown'
}

/** What a vendor's answer means. calls/ adds what never became an answer. */
export type Verdict =
  | { readonly outcome: 'ok' }
  | RateLimited
  /** The access token is expired or unknown: a refresh may help. */
  | { readonly outcome: 'unauthorised'; readonly reason: string }
  /** The token is good and the thing is not allowed: a refresh does not help. */
  | { readonly outcome: 'forbidden'; readonly reason: string; readonly missingScope?: string }
  /** The vendor has switched our application off, for every athlete: the operator's matter. No token and no attempt is to blame. */
  | { readonly outcome: 'inactive'; readonly reason: string }
  | { readonly outcome: 'absent' }
  | { readonly outcome: 'rejected'; readonly status: number; readonly reason: string }
  | { readonly outcome: 'transient'; readonly reason: string }

export interface RateWindow {
  readonly windowSeconds: number
  readonly limit?: number
  readonly used?: number
}

/** The vendor's own count, where its headers give one. A missing or odd number is left out, never 0. */
export interface RateReport {
  readonly pools: Readonly<Record<string, readonly RateWindow[]>>
}

export interface Credentials {
  readonly clientId: string
  readonly clientSecret: string
  /** Replaces every host of the vendor; paths stay. */
  readonly baseUrl?: string | undefined
  readonly webhookSecret?: string | undefined
  readonly webhookVerifyToken?: string | undefined
}

/** A vendor as one application sees it: with credentials and hosts. */
export interface OpenVendor<Endpoints = unknown> {
  readonly name: VendorName
  readonly facts: Facts
  readonly oauth: OAuth
  readonly endpoints: Endpoints
  readonly webhooks: Webhooks
}

/** A vendor as everybody sees it. */
export interface Vendor<Endpoints = unknown> {
  readonly name: VendorName
  readonly facts: Facts
  judge(response: VendorResponse, now: number): Verdict
  rateReport(response: VendorResponse): RateReport | undefined
  open(credentials: Credentials): OpenVendor<Endpoints>
}
