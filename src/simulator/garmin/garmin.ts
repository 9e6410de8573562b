// Garmin as a whole.
import { bearerOf, type Grants } from '../grants.ts'
import type { Call, Route } from '../router.ts'
import { noHeaders, type Admission, type Stage, type Vendor } from '../stage.ts'
import { apiRoutes } from './api.ts'
import { garminMeter, refusal, type GarminMeter } from './limits.ts'
import { garminGrants, oauthRoutes } from './oauth.ts'
import { GarminWebhooks } from './webhooks.ts'

export interface Garmin extends Vendor {
  readonly webhooks: GarminWebhooks
}

export interface GarminOptions {
  readonly isPing: boolean
  readonly later: (work: (signal: AbortSignal) => Promise<void>) => void
}

export function openGarmin(stage: Stage, { isPing, later }: GarminOptions): Garmin {
  const grants = garminGrants(stage)
  const webhooks = new GarminWebhooks(stage, grants, isPing)
  const meter = garminMeter(stage)
  return {
    name: 'garmin',
    grants,
    webhooks,
    routes: [...oauthRoutes(stage, grants), ...apiRoutes({ stage, grants, webhooks, meter, later })],
    admit: (call, route) => admit(grants, meter, call, route),
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

function admit(grants: Grants, meter: GarminMeter, call: Call, route: Route): Admission {
  if (route.access === 'open' || route.access === 'app') return { outcome: 'admitted', headersFor: noHeaders }
  const grant = grants.byAccess(bearerOf(call.headers))
  if (grant === undefined) return { outcome: 'refused', answer: refusal(401, 'Unauthorized') }
  const over = meter.charge(grant.client, route.method === 'GET')
  return over === undefined ? { outcome: 'admitted', grant, headersFor: noHeaders } : { outcome: 'refused', answer: over }
}
