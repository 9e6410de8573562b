// Garmin as a whole: its routes, what it checks before it admits a call, and how it refuses.
import type { SimulatorContext } from '../context.ts'
import { bearerOf, type Grants } from '../grants.ts'
import type { Call, Route } from '../router.ts'
import { noHeaders, type Admission, type Vendor } from '../vendor.ts'
import { apiRoutes } from './api.ts'
import { garminRateLimiter, refusal, type GarminRateLimiter } from './limits.ts'
import { garminGrants, oauthRoutes } from './oauth.ts'
import { GarminWebhooks } from './webhooks.ts'

export interface Garmin extends Vendor {
  readonly webhooks: GarminWebhooks
}

export interface GarminOptions {
  readonly isPing: boolean
  readonly inBackground: (work: (signal: AbortSignal) => Promise<void>) => void
}

export function openGarmin(context: SimulatorContext, { isPing, inBackground }: GarminOptions): Garmin {
  const grants = garminGrants(context)
  const webhooks = new GarminWebhooks(context, grants, isPing)
  const rateLimiter = garminRateLimiter(context)
  return {
    name: 'garmin',
    grants,
    webhooks,
    routes: [...oauthRoutes(context, grants), ...apiRoutes({ context, grants, webhooks, rateLimiter, inBackground })],
    admit: (call, route) => admit(grants, rateLimiter, call, route),
    overLimit: () => refusal(429, 'Limit exceeded'),
    failure: status => refusal(status, 'Internal Server Error'),
    notFound: () => refusal(404, 'Not Found'),
    deauthorise: athlete => {
      for (const grant of grants.of(athlete)) {
        grants.revoke(grant)
        webhooks.deregistered(athlete, grant.client)
      }
    },
  }
}

function admit(grants: Grants, rateLimiter: GarminRateLimiter, call: Call, route: Route): Admission {
  if (route.access === 'open' || route.access === 'app') return { outcome: 'admitted', headersFor: noHeaders }
  const grant = grants.byAccess(bearerOf(call.headers))
  if (grant === undefined) return { outcome: 'refused', answer: refusal(401, 'Unauthorized') }
  const over = rateLimiter.charge(grant.client, route.method === 'GET')
  return over === undefined ? { outcome: 'admitted', grant, headersFor: noHeaders } : { outcome: 'refused', answer: over }
}
