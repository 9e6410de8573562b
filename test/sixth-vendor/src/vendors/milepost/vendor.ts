// Milepost, put together.
import { siteOf } from '../site.ts'
import type { Vendor } from '../vendor.ts'
import { endpointsOf, type MilepostEndpoints } from './endpoints.ts'
import { facts } from './facts.ts'
import { rateReport } from './limits.ts'
import { oauthOf } from './oauth.ts'
import { judge } from './verdict.ts'
import { webhooksOf } from './webhooks.ts'

export const milepost: Vendor<MilepostEndpoints> = {
  name: 'milepost',
  facts,
  judge,
  rateReport,
  open: credentials => {
    const site = siteOf(facts, credentials)
    return { name: 'milepost', facts, oauth: oauthOf(site), endpoints: endpointsOf(site), webhooks: webhooksOf() }
  },
}
