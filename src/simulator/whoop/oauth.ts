// WHOOP's OAuth: without the scope `offline` there is no refresh token; a refresh kills the old one at once, so that two at a time
// lock the athlete out.
import { consentRoutes } from '../consent.ts'
import { Grants } from '../grants.ts'
import type { Route } from '../router.ts'
import type { Stage } from '../stage.ts'
import { tokenRoute } from '../token-endpoint.ts'

const ACCESS_MS = 3_600_000

export const whoopGrants = ({ clock, random }: Stage): Grants =>
  new Grants(clock, random, { accessMs: ACCESS_MS, refreshMs: Infinity, keepsOldAccess: false })

const scopesAsked = (query: URLSearchParams): { name: string; isTicked: boolean }[] =>
  (query.get('scope') ?? '')
    .split(' ')
    .filter(name => name !== '')
    .map(name => ({ name, isTicked: true }))

export function oauthRoutes(stage: Stage, grants: Grants): Route[] {
  const dialect = {
    vendor: 'whoop',
    label: 'WHOOP',
    templates: ['/oauth/oauth2/auth'],
    scopesAsked,
    scopeSeparator: ' ',
  } as const
  return [
    ...consentRoutes(dialect, stage.world, grants),
    tokenRoute({
      vendor: 'whoop',
      template: '/oauth/oauth2/token',
      stage,
      grants,
      needsVerifier: false,
      needsRedirectUri: false,
      body: grant => ({
        access_token: grant.accessToken,
        expires_in: Math.floor((grant.accessExpiresAt - stage.clock.now()) / 1000),
        ...(grant.scopes.has('offline') ? { refresh_token: grant.refreshToken } : {}),
        scope: [...grant.scopes].join(' '),
        token_type: 'bearer',
      }),
    }),
  ]
}
