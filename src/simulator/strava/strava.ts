// Strava as a whole: who is let in, in which order things are refused, and which answers carry rate headers (a 401, a 404 and
// token answers carry none).
import { json } from '../answer.ts'
import { bearerOf, type Grant, type Grants } from '../grants.ts'
import { textOf, type Call, type Route } from '../router.ts'
import { noHeaders, type Admission, type Stage, type Vendor } from '../stage.ts'
import type { Athlete } from '../world/athletes.ts'
import { apiRoutes } from './api.ts'
import { OVER_LIMIT_BODY, stravaMeter, type StravaMeter } from './limits.ts'
import { oauthRoutes, stravaGrants } from './oauth.ts'
import { badRequest, fault, nothingHere, recordNotFound, unauthorised } from './refusals.ts'
import { StravaWebhooks } from './webhooks.ts'

export interface Strava extends Vendor {
  readonly webhooks: StravaWebhooks
}

export function openStrava(stage: Stage): Strava {
  const grants = stravaGrants(stage)
  const webhooks = new StravaWebhooks(stage, grants)
  const meter = stravaMeter(stage)
  const onRevoked = (grant: Grant): void => webhooks.deauthorised(grant.athlete, grant.client)
  return {
    name: 'strava',
    grants,
    webhooks,
    routes: [...oauthRoutes({ stage, grants, onRevoked }), ...apiRoutes(stage, webhooks), ...webhooks.routes()],
    admit: (call, route) => admit({ stage, grants, meter }, call, route),
    overLimit: call => json(429, OVER_LIMIT_BODY, meter.headers(grants.byAccess(tokenOf(call))?.client ?? '', call)),
    failure: status => fault(status, status === 500 ? 'Internal Server Error' : 'Service Unavailable'),
    notFound: call => (call.path.endsWith('/streams') ? nothingHere() : recordNotFound('Activity')),
    deauthorise: (athlete: Athlete) => {
      for (const grant of grants.of(athlete)) {
        grants.revoke(grant)
        onRevoked(grant)
      }
    },
  }
}

interface Gate {
  readonly stage: Stage
  readonly grants: Grants
  readonly meter: StravaMeter
}

const tokenOf = (call: Call): string =>
  bearerOf(call.headers) || (call.query.get('access_token') ?? '') || textOf(call.fields, 'access_token')

function admit({ stage, grants, meter }: Gate, call: Call, route: Route): Admission {
  if (route.access === 'open') return { outcome: 'admitted', headersFor: noHeaders }
  if (route.access === 'app') return admitApplication(stage, call)
  const grant = grants.byAccess(tokenOf(call))
  if (grant === undefined) return { outcome: 'refused', answer: unauthorised('Athlete', 'access_token', 'invalid') }
  const over = meter.charge(grant.client, call)
  if (over !== undefined) return { outcome: 'refused', answer: over }
  const [needed] = route.access
  if (needed !== undefined && !route.access.some(scope => grant.scopes.has(scope))) {
    return { outcome: 'refused', answer: unauthorised('AccessToken', `${needed}_permission`, 'missing') }
  }
  return {
    outcome: 'admitted',
    grant,
    headersFor: ({ status }) => (status === 401 || status === 404 ? {} : meter.headers(grant.client, call)),
  }
}

/** push_subscriptions: the application's own secret, and rate headers that were seen to stand at 0,0. */
function admitApplication(stage: Stage, call: Call): Admission {
  const field = (name: string): string => textOf(call.fields, name) || (call.query.get(name) ?? '')
  const verdict = stage.clients.check('strava', { id: field('client_id'), secret: field('client_secret') })
  if (verdict === 'unknown_client') return { outcome: 'refused', answer: badRequest('Application', 'client_id', 'invalid') }
  if (verdict === 'wrong_secret') return { outcome: 'refused', answer: unauthorised('Application', '', 'invalid') }
  const headers = { 'X-RateLimit-Limit': stage.limits.overall.join(','), 'X-RateLimit-Usage': '0,0' }
  return { outcome: 'admitted', headersFor: () => headers }
}
