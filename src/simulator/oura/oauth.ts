// Oura's OAuth: scopes are separated by spaces, PKCE is accepted but not required, a refresh token works once.
import { consentRoutes } from '../consent-page.ts'
import type { SimulatorContext } from '../context.ts'
import { Grants } from '../grants.ts'
import type { Route } from '../router.ts'
import { tokenRoute } from '../token-endpoint.ts'

/** What older clients get. The documentation says "typically 30 days". */
const ACCESS_MS = 86_400_000
const ALL_SCOPES = 'email personal daily heartrate workout tag session spo2Daily'

export const ouraGrants = ({ clock, random }: SimulatorContext): Grants =>
  new Grants(clock, random, { accessMs: ACCESS_MS, refreshMs: Infinity, keepsOldAccess: false })

const scopesAsked = (query: URLSearchParams): { name: string; isTicked: boolean }[] =>
  (query.get('scope') ?? ALL_SCOPES)
    .split(' ')
    .filter(name => name !== '')
    .map(name => ({ name, isTicked: true }))

export function oauthRoutes(context: SimulatorContext, grants: Grants): Route[] {
  const dialect = { vendor: 'oura', label: 'Oura', templates: ['/oauth/authorize'], scopesAsked, scopeSeparator: ' ' } as const
  return [
    ...consentRoutes(dialect, context.world, grants),
    tokenRoute({
      vendor: 'oura',
      template: '/oauth/token',
      context,
      grants,
      needsVerifier: false,
      needsRedirectUri: true,
      body: grant => ({
        token_type: 'bearer',
        access_token: grant.accessToken,
        expires_in: Math.floor((grant.accessExpiresAt - context.clock.now()) / 1000),
        refresh_token: grant.refreshToken,
      }),
    }),
  ]
}
