// Oura as a whole. A missing scope is a 403. Routes for the application itself take its credentials in headers.
import type { SimulatorContext } from '../context.ts'
import { bearerOf, type Grants } from '../grants.ts'
import type { Call, Route } from '../router.ts'
import { noHeaders, type Admission, type Vendor } from '../vendor.ts'
import { apiRoutes, refusal } from './api.ts'
import { ouraRateLimiter, type OuraRateLimiter } from './limits.ts'
import { oauthRoutes, ouraGrants } from './oauth.ts'
import { OuraWebhooks } from './webhooks.ts'

export interface Oura extends Vendor {
  readonly webhooks: OuraWebhooks
}

export function openOura(context: SimulatorContext): Oura {
  const grants = ouraGrants(context)
  const webhooks = new OuraWebhooks(context, grants)
  const rateLimiter = ouraRateLimiter(context)
  return {
    name: 'oura',
    grants,
    webhooks,
    routes: [...oauthRoutes(context, grants), ...apiRoutes(context), ...webhooks.routes()],
    admit: (call, route) => admit({ context, grants, rateLimiter }, call, route),
    overLimit: () => rateLimiter.refusal('application', context.clock.now() + 60_000),
    failure: status => refusal(status, 'Internal Server Error'),
    notFound: () => refusal(404, 'Document not found'),
    deauthorise: athlete => {
      for (const grant of grants.of(athlete)) grants.revoke(grant)
    },
  }
}

interface AdmissionParts {
  readonly context: SimulatorContext
  readonly grants: Grants
  readonly rateLimiter: OuraRateLimiter
}

function admit({ context, grants, rateLimiter }: AdmissionParts, call: Call, route: Route): Admission {
  if (route.access === 'open') return { outcome: 'admitted', headersFor: noHeaders }
  if (route.access === 'app') {
    const client = { id: call.headers.get('x-client-id') ?? '', secret: call.headers.get('x-client-secret') ?? '' }
    const isKnown = context.clients.check('oura', client) === 'known'
    return isKnown ? { outcome: 'admitted', headersFor: noHeaders } : { outcome: 'refused', answer: refusal(401, 'Unauthorized') }
  }
  const grant = grants.byAccess(bearerOf(call.headers))
  if (grant === undefined)
    return { outcome: 'refused', answer: refusal(401, 'Unauthorized. Access token is expired, malformed or revoked.') }
  const over = rateLimiter.charge(grant, route.method === 'GET')
  if (over !== undefined) return { outcome: 'refused', answer: over }
  if (!route.access.some(scope => grant.scopes.has(scope))) {
    return { outcome: 'refused', answer: refusal(403, 'The user has not granted this scope, or the membership has lapsed.') }
  }
  return { outcome: 'admitted', grant, headersFor: noHeaders }
}
