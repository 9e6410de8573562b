// What can be asked of Foursquare. Pages shift while they are read: whoever reads subtracts some seconds from `afterSeconds` and
// drops what comes twice.
import assert from 'node:assert/strict'
import { readsJson, type Page } from '../shapes.ts'
import { requestOf, type Site } from '../site.ts'
import type { Charge, VendorRequest } from '../vendor.ts'
import { checkins, type FoursquareCheckin } from './wire.ts'

/** The date up to which we know the API's changes; without it every call is refused. */
export const VERSION = '20260901'
export const LIMIT_MAX = 250

export const ONE_REQUEST: readonly Charge[] = [{ pool: 'users', units: 1 }]

export interface FoursquareEndpoints {
  checkins(ask?: {
    readonly limit?: number
    readonly offset?: number
    readonly sort?: 'newestfirst' | 'oldestfirst'
    readonly afterSeconds?: number
    readonly beforeSeconds?: number
  }): VendorRequest<Page<FoursquareCheckin>>
}

export const endpointsOf = (site: Site): FoursquareEndpoints => ({
  checkins: ({ limit = LIMIT_MAX, offset, sort, afterSeconds, beforeSeconds } = {}) => {
    assert(limit >= 1 && limit <= LIMIT_MAX, `a page has at most ${LIMIT_MAX}`)
    const range = { afterTimestamp: afterSeconds, beforeTimestamp: beforeSeconds }
    return requestOf(site, {
      endpoint: 'checkins',
      url: site.url('api', '/v2/users/self/checkins', { v: VERSION, m: 'swarm', limit, offset, sort, ...range }),
      cost: ONE_REQUEST,
      read: readsJson(checkins),
    })
  },
})
