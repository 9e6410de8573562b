// The OAuth that all five vendors share: what accounts/ asks, the callback, the token answer, PKCE. Each vendor's oauth.ts says
// where it differs. Lifetimes are durations here; accounts/, which has a clock, makes dates of them.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Random } from '../kernel/random.ts'
import { decimal, id, optional, readsJson, text, words } from './shapes.ts'
import { requestOf, type Query, type Site } from './site.ts'
import type { Verdict, VendorRequest } from './vendor.ts'

export interface TokenGrant {
  readonly accessToken: string
  /** Undefined: keep the one you have (a vendor that may rotate), or there is none. */
  readonly refreshToken?: string | undefined
  readonly expiresInSeconds?: number | undefined
  /** What was granted, where the token answer says so. */
  readonly scopes?: readonly string[] | undefined
  readonly vendorAthleteId?: string | undefined
}

interface Pkce {
  readonly verifier: string
  readonly challenge: string
}

export type Callback =
  | {
      readonly outcome: 'granted'
      readonly state: string
      readonly code: string
      readonly scopes: readonly string[] | undefined
    }
  | { readonly outcome: 'denied'; readonly state: string; readonly reason: string }
  | { readonly outcome: 'malformed'; readonly reason: string }

export interface OAuth {
  authoriseUrl(ask: {
    readonly redirectUri: string
    readonly state: string
    readonly scopes: readonly string[]
    readonly pkce?: Pkce | undefined
  }): string
  /** Undefined where the vendor knows no PKCE. */
  pkce(random: Random): Pkce | undefined
  callback(query: Readonly<Record<string, string | undefined>>): Callback
  exchange(ask: {
    readonly code: string
    readonly redirectUri: string
    readonly codeVerifier?: string | undefined
  }): VendorRequest<TokenGrant>
  /** Undefined where tokens do not expire. Never idempotent: a repeated refresh can lock the athlete out. */
  refresh(refreshToken: string): VendorRequest<TokenGrant> | undefined
  /** Whether no later refresh can succeed, so that the athlete must connect again. A wrong client secret is no such case. */
  isDeadRefresh(verdict: Verdict): boolean
  /** Undefined where the vendor has no such call. */
  revoke(tokens: {
    readonly accessToken: string
    readonly refreshToken?: string | undefined
  }): VendorRequest<undefined> | undefined
  /** Who granted it, for vendors whose token answer does not say. */
  identity(): VendorRequest<string> | undefined
  /** What was granted, for vendors who say it only when asked. */
  permissions(): VendorRequest<readonly string[]> | undefined
}

export function makePkce(random: Random): Pkce {
  const verifier = Buffer.from(random.bytes(48)).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

export const pkceFields = (pkce: Pkce | undefined): Query =>
  pkce === undefined ? {} : { code_challenge: pkce.challenge, code_challenge_method: 'S256' }

/** Vendors separate by comma or blank; both are read everywhere. */
const scopesOf = (written: string): string[] => [...new Set(written.split(/[\s,]+/).filter(scope => scope !== ''))]

export function readCallback(query: Readonly<Record<string, string | undefined>>): Callback {
  const { state, code, error, scope } = query
  if (!state) return { outcome: 'malformed', reason: 'no state' }
  if (error !== undefined) return { outcome: 'denied', state, reason: error.slice(0, 100) }
  if (!code) return { outcome: 'malformed', reason: 'no code' }
  return { outcome: 'granted', state, code, scopes: scope === undefined ? undefined : scopesOf(scope) }
}

const token = text.min(1)
const seconds = decimal.nonnegative()
const grant = z
  .object({
    access_token: token,
    refresh_token: optional(token),
    expires_in: optional(seconds),
    scope: optional(z.union([text.transform(scopesOf), words])),
    athlete: optional(z.object({ id })),
  })
  .transform((wire): TokenGrant => ({
    accessToken: wire.access_token,
    refreshToken: wire.refresh_token ?? undefined,
    expiresInSeconds: wire.expires_in ?? undefined,
    scopes: wire.scope ?? undefined,
    vendorAthleteId: wire.athlete?.id,
  }))

export const readsGrant = readsJson(grant)

/** The usual token call: a form with the client's credentials in it. Unmetered, and never sent twice. */
export const tokenRequest = (site: Site, path: string, fields: Query): VendorRequest<TokenGrant> =>
  requestOf(site, {
    endpoint: 'token',
    method: 'POST',
    url: site.url('token', path),
    form: { client_id: site.credentials.clientId, client_secret: site.credentials.clientSecret, ...fields },
    authorised: false,
    read: readsGrant,
  })

/** The word of RFC 6749, the word of WHOOP's server, and plain sentences. `invalid_client` is the operator's mistake, so it is not here. */
const DEAD =
  /\b(?:invalid_grant|token_inactive)\b|refresh[ _]token\b.*\b(?:invalid|expired|revoked)\b|\b(?:invalid|expired|revoked) refresh[ _]token/i

export const isInvalidGrant = (verdict: Verdict): boolean =>
  (verdict.outcome === 'rejected' || verdict.outcome === 'unauthorised') && DEAD.test(verdict.reason)
