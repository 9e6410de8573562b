// Foursquare as a whole. No token is a 400, a wrong one a 401, too many calls a 403.
import { bearerOf, type Grants } from '../grants.ts'
import type { Call, Route } from '../router.ts'
import { noHeaders, type Admission, type Stage, type Vendor } from '../stage.ts'
import { apiRoutes, refuse } from './api.ts'
import { foursquareMeter, type FoursquareMeter } from './limits.ts'
import { foursquareGrants, oauthRoutes } from './oauth.ts'

export function openFoursquare(stage: Stage): Vendor {
  const grants = foursquareGrants(stage)
  const meter = foursquareMeter(stage)
  return {
    name: 'foursquare',
    grants,
    routes: [...oauthRoutes(stage, grants), ...apiRoutes(stage)],
    admit: (call, route) => admit({ stage, grants, meter }, call, route),
    overLimit: call => meter.refusal(tokenOf(call)),
    failure: status => refuse(stage, status, 'server_error', 'Foursquare servers are experiencing problems.'),
    notFound: () => refuse(stage, 404, 'endpoint_error', 'Endpoint not found'),
    deauthorise: athlete => {
      for (const grant of grants.of(athlete)) grants.revoke(grant)
    },
  }
}

interface Gate {
  readonly stage: Stage
  readonly grants: Grants
  readonly meter: FoursquareMeter
}

const tokenOf = (call: Call): string => call.query.get('oauth_token') ?? bearerOf(call.headers)

function admit({ stage, grants, meter }: Gate, call: Call, route: Route): Admission {
  if (route.access === 'open' || route.access === 'app') return { outcome: 'admitted', headersFor: noHeaders }
  const token = tokenOf(call)
  if (token === '') return { outcome: 'refused', answer: refuse(stage, 400, 'invalid_auth', 'Missing access credentials.') }
  const grant = grants.byAccess(token)
  if (grant === undefined)
    return { outcome: 'refused', answer: refuse(stage, 401, 'invalid_auth', 'OAuth token invalid or revoked.') }
  const over = meter.charge(token)
  return over === undefined
    ? { outcome: 'admitted', grant, headersFor: () => meter.headers(token) }
    : { outcome: 'refused', answer: over }
}
