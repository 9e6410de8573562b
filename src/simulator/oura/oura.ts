// Oura as a whole. A missing scope is a 403; the application's own routes take its credentials in headers.
import { bearerOf, type Grants } from '../grants.ts'
import type { Call, Route } from '../router.ts'
import { noHeaders, type Admission, type Stage, type Vendor } from '../stage.ts'
import { apiRoutes, refusal } from './api.ts'
import { ouraMeter, type OuraMeter } from './limits.ts'
import { oauthRoutes, ouraGrants } from './oauth.ts'
import { OuraWebhooks } from './webhooks.ts'

export interface Oura extends Vendor {
  readonly webhooks: OuraWebhooks
}

export function openOura(stage: Stage): Oura {
  const grants = ouraGrants(stage)
  const webhooks = new OuraWebhooks(stage, grants)
  const meter = ouraMeter(stage)
  return {
    name: 'oura',
    grants,
    webhooks,
    routes: [...oauthRoutes(stage, grants), ...apiRoutes(stage), ...webhooks.routes()],
    admit: (call, route) => admit({ stage, grants, meter }, call, route),
    overLimit: () => meter.refusal('application', stage.clock.now() + 60_000),
    failure: status => refusal(status, 'Internal Server Error'),
    notFound: () => refusal(404, 'Document not found'),
    deauthorise: athlete => {
      for (const grant of grants.of(athlete)) grants.revoke(grant)
    },
  }
}

interface Gate {
  readonly stage: Stage
  readonly grants: Grants
  readonly meter: OuraMeter
}

function admit({ stage, grants, meter }: Gate, call: Call, route: Route): Admission {
  if (route.access === 'open') return { outcome: 'admitted', headersFor: noHeaders }
  if (route.access === 'app') {
    const client = { id: call.headers.get('x-client-id') ?? '', secret: call.headers.get('x-client-secret') ?? '' }
    const isKnown = stage.clients.check('oura', client) === 'known'
    return isKnown ? { outcome: 'admitted', headersFor: noHeaders } : { outcome: 'refused', answer: refusal(401, 'Unauthorized') }
  }
  const grant = grants.byAccess(bearerOf(call.headers))
  if (grant === undefined)
    return { outcome: 'refused', answer: refusal(401, 'Unauthorized. Access token is expired, malformed or revoked.') }
  const over = meter.charge(grant, route.method === 'GET')
  if (over !== undefined) return { outcome: 'refused', answer: over }
  if (!route.access.some(scope => grant.scopes.has(scope))) {
    return { outcome: 'refused', answer: refusal(403, 'The user has not granted this scope, or the membership has lapsed.') }
  }
  return { outcome: 'admitted', grant, headersFor: noHeaders }
}
