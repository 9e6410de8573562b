// WHOOP as a whole. Refusals have no bodies; rate headers stand on every answer to a known application.
import { empty, json } from '../answer.ts'
import { bearerOf, type Grants } from '../grants.ts'
import type { Call, Route } from '../router.ts'
import { noHeaders, type Admission, type Stage, type Vendor } from '../stage.ts'
import { apiRoutes } from './api.ts'
import { OVER_LIMIT_BODY, whoopMeter, type WhoopMeter } from './limits.ts'
import { oauthRoutes, whoopGrants } from './oauth.ts'
import { WhoopWebhooks } from './webhooks.ts'

export interface Whoop extends Vendor {
  readonly webhooks: WhoopWebhooks
}

export function openWhoop(stage: Stage): Whoop {
  const grants = whoopGrants(stage)
  const meter = whoopMeter(stage)
  return {
    name: 'whoop',
    grants,
    webhooks: new WhoopWebhooks(stage, grants),
    routes: [...oauthRoutes(stage, grants), ...apiRoutes(stage, grants)],
    admit: (call, route) => admit(grants, meter, call, route),
    overLimit: call => json(429, OVER_LIMIT_BODY, meter.headers(grants.byAccess(bearerOf(call.headers))?.client ?? '')),
    failure: status => empty(status),
    notFound: () => empty(404),
    deauthorise: athlete => {
      for (const grant of grants.of(athlete)) grants.revoke(grant)
    },
  }
}

function admit(grants: Grants, meter: WhoopMeter, call: Call, route: Route): Admission {
  if (route.access === 'open' || route.access === 'app') return { outcome: 'admitted', headersFor: noHeaders }
  const grant = grants.byAccess(bearerOf(call.headers))
  if (grant === undefined) return { outcome: 'refused', answer: empty(401) }
  const over = meter.charge(grant.client, route.method === 'GET')
  if (over !== undefined) return { outcome: 'refused', answer: over }
  const isGranted = route.access.length === 0 || route.access.some(scope => grant.scopes.has(scope))
  if (!isGranted) return { outcome: 'refused', answer: empty(401, meter.headers(grant.client)) }
  return { outcome: 'admitted', grant, headersFor: () => meter.headers(grant.client) }
}
