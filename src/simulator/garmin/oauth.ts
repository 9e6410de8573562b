// Garmin's OAuth: PKCE with S256 is required. Instead of scopes there are permissions, which the athlete ticks on the consent
// page; the one for history is not ticked at first. Refresh tokens work once and live ninety days.
import { consentRoutes } from '../consent-page.ts'
import type { SimulatorContext } from '../context.ts'
import { Grants } from '../grants.ts'
import type { Route } from '../router.ts'
import { tokenRoute } from '../token-endpoint.ts'

const DAY_MS = 86_400_000
const PERMISSIONS = [
  { name: 'ACTIVITY_EXPORT', isTicked: true },
  { name: 'HEALTH_EXPORT', isTicked: true },
  { name: 'HISTORICAL_DATA_EXPORT', isTicked: false },
]

export const garminGrants = ({ clock, random }: SimulatorContext): Grants =>
  new Grants(clock, random, { accessMs: DAY_MS, refreshMs: 90 * DAY_MS, keepsOldAccess: false })

export function oauthRoutes(context: SimulatorContext, grants: Grants): Route[] {
  const dialect = {
    vendor: 'garmin',
    label: 'Garmin Connect',
    templates: ['/oauth2Confirm'],
    scopesAsked: () => PERMISSIONS,
    refusal: (query: URLSearchParams) =>
      query.has('code_challenge') && query.get('code_challenge_method') === 'S256'
        ? undefined
        : 'code_challenge with S256 is required',
  } as const
  const secondsTo = (at: number): number => Math.floor((at - context.clock.now()) / 1000)
  return [
    ...consentRoutes(dialect, context.world, grants),
    tokenRoute({
      vendor: 'garmin',
      template: '/di-oauth2-service/oauth/token',
      context,
      grants,
      needsVerifier: true,
      needsRedirectUri: false,
      body: grant => ({
        access_token: grant.accessToken,
        expires_in: secondsTo(grant.accessExpiresAt),
        token_type: 'bearer',
        refresh_token: grant.refreshToken,
        // Recorded answers say two seconds less.
        refresh_token_expires_in: secondsTo(grant.refreshExpiresAt) - 2,
        scope: 'PARTNER_WRITE PARTNER_READ CONNECT_READ CONNECT_WRITE',
        jti: grant.accessToken.slice(0, 16),
      }),
    }),
  ]
}
