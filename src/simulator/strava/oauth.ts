// Strava's OAuth: no PKCE, scopes separated by commas, a callback that says what was granted. While an access token has more than
// an hour left, a refresh returns the same tokens; later it replaces both.
import { empty, json, type Answer } from '../answer.ts'
import { consentRoutes } from '../consent-page.ts'
import type { SimulatorContext } from '../context.ts'
import { bearerOf, Grants, type Grant } from '../grants.ts'
import { textOf, type Call, type Route } from '../router.ts'
import { summaryAthlete } from './payloads.ts'
import { badRequest, errorAnswer, unauthorised } from './refusals.ts'

const HOUR_MS = 3_600_000

export const stravaGrants = ({ clock, random }: SimulatorContext): Grants =>
  new Grants(clock, random, { accessMs: 6 * HOUR_MS, refreshMs: Infinity, reuseAboveMs: HOUR_MS, keepsOldAccess: true })

interface StravaOauth {
  readonly context: SimulatorContext
  readonly grants: Grants
  /** Called when the athlete's consent has ended, in whatever way. */
  readonly onRevoked: (grant: Grant) => void
}

const post = (template: string, handle: Route['handle'], access: Route['access'] = 'open'): Route => ({
  vendor: 'strava',
  method: 'POST',
  template,
  access,
  handle,
})

export function oauthRoutes(oauth: StravaOauth): Route[] {
  const consent = consentRoutes(
    {
      vendor: 'strava',
      label: 'Strava',
      templates: ['/oauth/authorize', '/oauth/mobile/authorize'],
      scopesAsked: query =>
        (query.get('scope') ?? 'read')
          .split(',')
          .filter(name => name !== '')
          .map(name => ({ name, isTicked: true })),
      scopeSeparator: ',',
    },
    oauth.context.world,
    oauth.grants,
  )
  return [
    ...consent,
    post('/oauth/token', call => token(oauth, call)),
    post('/api/v3/oauth/token', call => token(oauth, call)),
    post('/oauth/revoke', call => revoke(oauth, call)),
    post('/oauth/deauthorize', (call, grant) => deauthorise(oauth, call, grant), []),
  ]
}

function clientRefusal({ context }: StravaOauth, id: string, secret: string): Answer | undefined {
  const verdict = context.clients.check('strava', { id, secret })
  if (verdict === 'unknown_client') return badRequest('Application', 'client_id', 'invalid')
  return verdict === 'wrong_secret' ? unauthorised('Application', '', 'invalid') : undefined
}

function token(oauth: StravaOauth, call: Call): Answer {
  const field = (name: string): string => textOf(call.fields, name) || (call.query.get(name) ?? '')
  const isRefresh = field('grant_type') === 'refresh_token'
  if (isRefresh) oauth.context.journal.of('strava').refreshes += 1
  const refusal = clientRefusal(oauth, field('client_id'), field('client_secret'))
  if (refusal !== undefined) return refusal
  if (isRefresh) {
    const grant = oauth.grants.refresh(field('refresh_token'), field('client_id'))
    return grant === undefined
      ? badRequest('RefreshToken', 'refresh_token', 'invalid')
      : json(200, tokenBody(oauth.context, grant))
  }
  if (field('grant_type') !== 'authorization_code') return badRequest('Application', 'grant_type', 'invalid')
  const consent = oauth.grants.redeem(field('code'))
  if (consent === undefined || consent.client !== field('client_id')) return badRequest('AuthorizationCode', 'code', 'invalid')
  const grant = oauth.grants.open(consent)
  return json(200, { ...tokenBody(oauth.context, grant), athlete: summaryAthlete(grant.athlete) })
}

const tokenBody = ({ clock }: SimulatorContext, grant: Grant): Record<string, unknown> => ({
  token_type: 'Bearer',
  expires_at: Math.floor(grant.accessExpiresAt / 1000),
  expires_in: Math.floor((grant.accessExpiresAt - clock.now()) / 1000),
  refresh_token: grant.refreshToken,
  access_token: grant.accessToken,
})

function revoke(oauth: StravaOauth, call: Call): Answer {
  const basic = /^basic\s+(.+)$/i.exec(call.headers.get('authorization') ?? '')?.[1] ?? ''
  const [id = '', secret = ''] = Buffer.from(basic, 'base64').toString().split(':')
  if (oauth.context.clients.check('strava', { id, secret }) !== 'known') return errorAnswer(401, 'Authorization Error')
  const grant = oauth.grants.byAnyToken(textOf(call.fields, 'token'))
  if (grant !== undefined && grant.client === id) withdraw(oauth, grant)
  return empty(200)
}

function deauthorise(oauth: StravaOauth, call: Call, grant: Grant | undefined): Answer {
  const accessToken = bearerOf(call.headers) || textOf(call.fields, 'access_token') || (call.query.get('access_token') ?? '')
  if (grant !== undefined) withdraw(oauth, grant)
  return json(200, { access_token: accessToken })
}

function withdraw({ grants, onRevoked }: StravaOauth, grant: Grant): void {
  grants.revoke(grant)
  onRevoked(grant)
}
