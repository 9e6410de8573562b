// The token endpoint as OAuth 2 describes it, for the vendors that keep to it (Oura, WHOOP, Garmin): form fields in, OAuth error
// codes out, codes and refresh tokens that work once. Strava and Foursquare have their own.
import { json, type Answer } from './answer.ts'
import type { SimulatorContext } from './context.ts'
import { provesChallenge, type Grant, type Grants } from './grants.ts'
import { textOf, type Call, type Route, type VendorName } from './router.ts'

interface TokenDialect {
  readonly vendor: VendorName
  readonly template: string
  readonly context: SimulatorContext
  readonly grants: Grants
  readonly needsVerifier: boolean
  /** Whether the exchange must repeat the redirect address. A different one is always refused. */
  readonly needsRedirectUri: boolean
  readonly body: (grant: Grant) => Readonly<Record<string, unknown>>
}

const refuse = (status: number, error: string, why: string): Answer => json(status, { error, error_description: why })

export const tokenRoute = (dialect: TokenDialect): Route => ({
  vendor: dialect.vendor,
  method: 'POST',
  template: dialect.template,
  access: 'open',
  handle: call => answerFor(dialect, call),
})

function answerFor(dialect: TokenDialect, call: Call): Answer {
  const { context, vendor } = dialect
  const kind = textOf(call.fields, 'grant_type')
  if (kind === 'refresh_token') context.journal.of(vendor).refreshes += 1
  const verdict = context.clients.check(vendor, credentialsIn(call))
  if (verdict !== 'known') return refuse(401, 'invalid_client', 'Client authentication failed')
  if (kind === 'authorization_code') return redeemed(dialect, call)
  if (kind === 'refresh_token') return refreshed(dialect, call)
  return refuse(400, 'unsupported_grant_type', 'The grant type is not supported')
}

/** From the form, or from HTTP Basic. */
function credentialsIn(call: Call): { id: string; secret: string } {
  const basic = /^basic\s+(.+)$/i.exec(call.headers.get('authorization') ?? '')?.[1]
  if (basic === undefined) return { id: textOf(call.fields, 'client_id'), secret: textOf(call.fields, 'client_secret') }
  const [id = '', secret = ''] = Buffer.from(basic, 'base64').toString().split(':')
  return { id, secret }
}

function redeemed({ grants, needsVerifier, needsRedirectUri, body }: TokenDialect, call: Call): Answer {
  const consent = grants.redeem(textOf(call.fields, 'code'))
  if (consent === undefined || consent.client !== credentialsIn(call).id)
    return refuse(400, 'invalid_grant', 'The code is wrong or used')
  const redirectUri = textOf(call.fields, 'redirect_uri') || (needsRedirectUri ? '' : consent.redirectUri)
  if (redirectUri !== consent.redirectUri) return refuse(400, 'invalid_grant', 'redirect_uri differs')
  const verifier = textOf(call.fields, 'code_verifier')
  if (needsVerifier && (consent.challenge === undefined || verifier === ''))
    return refuse(400, 'invalid_request', 'code_verifier is missing')
  if (!provesChallenge(consent, verifier)) return refuse(400, 'invalid_grant', 'code_verifier does not fit')
  return json(200, body(grants.open(consent)))
}

function refreshed({ grants, body }: TokenDialect, call: Call): Answer {
  const grant = grants.refresh(textOf(call.fields, 'refresh_token'), credentialsIn(call).id)
  return grant === undefined
    ? refuse(400, 'invalid_grant', 'The refresh token is wrong, used or expired')
    : json(200, body(grant))
}
