// WHOOP as a whole. Refusals for a token or a scope have no body. Every answer to a valid token has rate-limit headers.
import { empty, json } from '../answer.ts'
import type { SimulatorContext } from '../context.ts'
import { bearerOf, type Grants } from '../grants.ts'
import type { Call, Route } from '../router.ts'
import { noHeaders, type Admission, type Vendor } from '../vendor.ts'
import { apiRoutes } from './api.ts'
import { OVER_LIMIT_BODY, whoopRateLimiter, type WhoopRateLimiter } from './limits.ts'
import { oauthRoutes, whoopGrants } from './oauth.ts'
import { WhoopWebhooks } from './webhooks.ts'

export interface Whoop extends Vendor {
  readonly webhooks: WhoopWebhooks
}

export function openWhoop(context: SimulatorContext): Whoop {
  const grants = whoopGrants(context)
  const rateLimiter = whoopRateLimiter(context)
  return {
    name: 'whoop',
    grants,
    webhooks: new WhoopWebhooks(context, grants),
    routes: [...oauthRoutes(context, grants), ...apiRoutes(context, grants)],
    admit: (call, route) => admit(grants, rateLimiter, call, route),
    overLimit: call => json(429, OVER_LIMIT_BODY, rateLimiter.headers(grants.byAccess(bearerOf(call.headers))?.client ?? '')),
    failure: status => empty(status),
    notFound: () => empty(404),
    deauthorise: athlete => {
      for (const grant of grants.of(athlete)) grants.revoke(grant)
    },
  }
}

function admit(grants: Grants, rateLimiter: WhoopRateLimiter, call: Call, route: Route): Admission {
  if (route.access === 'open' || route.access === 'app') return { outcome: 'admitted', headersFor: noHeaders }
  const grant = grants.byAccess(bearerOf(call.headers))
  if (grant === undefined) return { outcome: 'refused', answer: empty(401) }
  const over = rateLimiter.charge(grant.client, route.method === 'GET')
  if (over !== undefined) return { outcome: 'refused', answer: over }
  const isGranted = route.access.length === 0 || route.access.some(scope => grant.scopes.has(scope))
  if (!isGranted) return { outcome: 'refused', answer: empty(401, rateLimiter.headers(grant.client)) }
  return { outcome: 'admitted', grant, headersFor: () => rateLimiter.headers(grant.client) }
}
