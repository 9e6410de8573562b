// Strava as a whole: what it checks before it admits a call, in which order, and which answers carry rate-limit headers (401, 404
// and token answers carry none).
import { json } from '../answer.ts'
import type { SimulatorContext } from '../context.ts'
import { bearerOf, type Grant, type Grants } from '../grants.ts'
import { textOf, type Call, type Route } from '../router.ts'
import { noHeaders, type Admission, type Vendor } from '../vendor.ts'
import type { Athlete } from '../world/athletes.ts'
import { apiRoutes } from './api.ts'
import { OVER_LIMIT_BODY, stravaRateLimiter, type StravaRateLimiter } from './limits.ts'
import { oauthRoutes, stravaGrants } from './oauth.ts'
import { badRequest, errorAnswer, nothingHere, recordNotFound, unauthorised } from './refusals.ts'
import { StravaWebhooks } from './webhooks.ts'

export interface Strava extends Vendor {
  readonly webhooks: StravaWebhooks
}

export function openStrava(context: SimulatorContext): Strava {
  const grants = stravaGrants(context)
  const webhooks = new StravaWebhooks(context, grants)
  const rateLimiter = stravaRateLimiter(context)
  const onRevoked = (grant: Grant): void => webhooks.deauthorised(grant.athlete, grant.client)
  return {
    name: 'strava',
    grants,
    webhooks,
    routes: [...oauthRoutes({ context, grants, onRevoked }), ...apiRoutes(context, webhooks), ...webhooks.routes()],
    admit: (call, route) => admit({ context, grants, rateLimiter }, call, route),
    overLimit: call => json(429, OVER_LIMIT_BODY, rateLimiter.headers(grants.byAccess(tokenOf(call))?.client ?? '', call)),
    failure: status => errorAnswer(status, status === 500 ? 'Internal Server Error' : 'Service Unavailable'),
    notFound: call => (call.path.endsWith('/streams') ? nothingHere() : recordNotFound('Activity')),
    inactive: () => errorAnswer(403, 'Forbidden', 'Application', 'Status', 'Inactive'),
    deauthorise: (athlete: Athlete) => {
      for (const grant of grants.of(athlete)) {
        grants.revoke(grant)
        onRevoked(grant)
      }
    },
  }
}

interface AdmissionParts {
  readonly context: SimulatorContext
  readonly grants: Grants
  readonly rateLimiter: StravaRateLimiter
}

const tokenOf = (call: Call): string =>
  bearerOf(call.headers) || (call.query.get('access_token') ?? '') || textOf(call.fields, 'access_token')

function admit({ context, grants, rateLimiter }: AdmissionParts, call: Call, route: Route): Admission {
  if (route.access === 'open') return { outcome: 'admitted', headersFor: noHeaders }
  if (route.access === 'app') return admitApplication(context, call)
  const grant = grants.byAccess(tokenOf(call))
  if (grant === undefined) return { outcome: 'refused', answer: unauthorised('Athlete', 'access_token', 'invalid') }
  const over = rateLimiter.charge(grant.client, call)
  if (over !== undefined) return { outcome: 'refused', answer: over }
  const [needed] = route.access
  if (needed !== undefined && !route.access.some(scope => grant.scopes.has(scope))) {
    return { outcome: 'refused', answer: unauthorised('AccessToken', `${needed}_permission`, 'missing') }
  }
  return {
    outcome: 'admitted',
    grant,
    headersFor: ({ status }) => (status === 401 || status === 404 ? {} : rateLimiter.headers(grant.client, call)),
  }
}

/** For push_subscriptions, which take the application's secret. Recorded answers show a usage of 0,0. */
function admitApplication(context: SimulatorContext, call: Call): Admission {
  const field = (name: string): string => textOf(call.fields, name) || (call.query.get(name) ?? '')
  const verdict = context.clients.check('strava', { id: field('client_id'), secret: field('client_secret') })
  if (verdict === 'unknown_client') return { outcome: 'refused', answer: badRequest('Application', 'client_id', 'invalid') }
  if (verdict === 'wrong_secret') return { outcome: 'refused', answer: unauthorised('Application', '', 'invalid') }
  const headers = { 'X-RateLimit-Limit': context.limits.overall.join(','), 'X-RateLimit-Usage': '0,0' }
  return { outcome: 'admitted', headersFor: () => headers }
}
