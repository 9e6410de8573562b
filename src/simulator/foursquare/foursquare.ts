// Foursquare as a whole. A missing token is a 400, a wrong one a 401, too many calls a 403.
import type { SimulatorContext } from '../context.ts'
import { bearerOf, type Grants } from '../grants.ts'
import type { Call, Route } from '../router.ts'
import { noHeaders, type Admission, type Vendor } from '../vendor.ts'
import { apiRoutes, refuse } from './api.ts'
import { foursquareRateLimiter, type FoursquareRateLimiter } from './limits.ts'
import { foursquareGrants, oauthRoutes } from './oauth.ts'

export function openFoursquare(context: SimulatorContext): Vendor {
  const grants = foursquareGrants(context)
  const rateLimiter = foursquareRateLimiter(context)
  return {
    name: 'foursquare',
    grants,
    routes: [...oauthRoutes(context, grants), ...apiRoutes(context)],
    admit: (call, route) => admit({ context, grants, rateLimiter }, call, route),
    overLimit: call => rateLimiter.refusal(tokenOf(call)),
    failure: status => refuse(context, status, 'server_error', 'Foursquare servers are experiencing problems.'),
    notFound: () => refuse(context, 404, 'endpoint_error', 'Endpoint not found'),
    deauthorise: athlete => {
      for (const grant of grants.of(athlete)) grants.revoke(grant)
    },
  }
}

interface AdmissionParts {
  readonly context: SimulatorContext
  readonly grants: Grants
  readonly rateLimiter: FoursquareRateLimiter
}

const tokenOf = (call: Call): string => call.query.get('oauth_token') ?? bearerOf(call.headers)

function admit({ context, grants, rateLimiter }: AdmissionParts, call: Call, route: Route): Admission {
  if (route.access === 'open' || route.access === 'app') return { outcome: 'admitted', headersFor: noHeaders }
  const token = tokenOf(call)
  if (token === '') return { outcome: 'refused', answer: refuse(context, 400, 'invalid_auth', 'Missing access credentials.') }
  const grant = grants.byAccess(token)
  if (grant === undefined)
    return { outcome: 'refused', answer: refuse(context, 401, 'invalid_auth', 'OAuth token invalid or revoked.') }
  const over = rateLimiter.charge(token)
  return over === undefined
    ? { outcome: 'admitted', grant, headersFor: () => rateLimiter.headers(token) }
    : { outcome: 'refused', answer: over }
}
