// WHOOP's OAuth: there is a refresh token only with the scope `offline`. A refresh revokes the old tokens at once, so of two
// refreshes at a time one fails.
import { consentRoutes } from '../consent-page.ts'
import type { SimulatorContext } from '../context.ts'
import { Grants } from '../grants.ts'
import type { Route } from '../router.ts'
import { tokenRoute } from '../token-endpoint.ts'

const ACCESS_MS = 3_600_000

export const whoopGrants = ({ clock, random }: SimulatorContext): Grants =>
  new Grants(clock, random, { accessMs: ACCESS_MS, refreshMs: Infinity, keepsOldAccess: false })

const scopesAsked = (query: URLSearchParams): { name: string; isTicked: boolean }[] =>
  (query.get('scope') ?? '')
    .split(' ')
    .filter(name => name !== '')
    .map(name => ({ name, isTicked: true }))

export function oauthRoutes(context: SimulatorContext, grants: Grants): Route[] {
  const dialect = {
    vendor: 'whoop',
    label: 'WHOOP',
    templates: ['/oauth/oauth2/auth'],
    scopesAsked,
    scopeSeparator: ' ',
  } as const
  return [
    ...consentRoutes(dialect, context.world, grants),
    tokenRoute({
      vendor: 'whoop',
      template: '/oauth/oauth2/token',
      context,
      grants,
      needsVerifier: false,
      needsRedirectUri: false,
      body: grant => ({
        access_token: grant.accessToken,
        expires_in: Math.floor((grant.accessExpiresAt - context.clock.now()) / 1000),
        ...(grant.scopes.has('offline') ? { refresh_token: grant.refreshToken } : {}),
        scope: [...grant.scopes].join(' '),
        token_type: 'bearer',
      }),
    }),
  ]
}
