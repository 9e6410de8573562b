// Foursquare, put together.
import { siteOf } from '../site.ts'
import type { Vendor } from '../vendor.ts'
import { endpointsOf, type FoursquareEndpoints } from './endpoints.ts'
import { facts } from './facts.ts'
import { rateReport } from './limits.ts'
import { oauthOf } from './oauth.ts'
import { judge } from './verdict.ts'
import { webhooksOf } from './webhooks.ts'

export const foursquare: Vendor<FoursquareEndpoints> = {
  name: 'foursquare',
  facts,
  judge,
  rateReport,
  open: credentials => {
    const site = siteOf(facts, credentials)
    return { name: 'foursquare', facts, oauth: oauthOf(site), endpoints: endpointsOf(site), webhooks: webhooksOf() }
  },
}
