// What can be asked of WHOOP. Its paging token is `nextToken` in the request and `next_token` in the answer; start and end
// are repeated with it.
import assert from 'node:assert/strict'
import { z } from 'zod'
import { entries, optional, pageOf, readsJson, text, type Page } from '../shapes.ts'
import { requestOf, segment, type Site } from '../site.ts'
import type { Charge, VendorRequest } from '../vendor.ts'
import { sleep, type WhoopSleep } from './wire.ts'

export const ONE_REQUEST: readonly Charge[] = [{ pool: 'app', units: 1 }]
const LIMIT_MAX = 25

interface WhoopRange {
  /** Included, in ms. */
  readonly startAt?: number | undefined
  /** Not included, in ms. */
  readonly endAt?: number | undefined
  readonly limit?: number | undefined
  readonly nextToken?: string | undefined
}

export interface WhoopEndpoints {
  /** Newest first. */
  sleepRange(range: WhoopRange): VendorRequest<Page<WhoopSleep>>
  sleepById(id: string): VendorRequest<WhoopSleep>
}

/** On the last page the token is absent, null or empty. */
const readsRecords = readsJson(
  z.object({ records: entries, next_token: optional(text) }).transform(({ records, next_token }): Page<WhoopSleep> => ({
    ...pageOf(sleep, records),
    nextToken: next_token || undefined,
  })),
)

const isoOf = (at: number | undefined): string | undefined => (at === undefined ? undefined : new Date(at).toISOString())

export const endpointsOf = (site: Site): WhoopEndpoints => ({
  sleepRange: ({ startAt, endAt, limit = LIMIT_MAX, nextToken }) => {
    assert(limit >= 1 && limit <= LIMIT_MAX, `a page has at most ${LIMIT_MAX}`)
    const query = { limit, start: isoOf(startAt), end: isoOf(endAt), nextToken }
    return requestOf(site, {
      endpoint: 'sleep-list',
      url: site.url('api', '/developer/v2/activity/sleep', query),
      cost: ONE_REQUEST,
      read: readsRecords,
    })
  },
  sleepById: id =>
    requestOf(site, {
      endpoint: 'sleep',
      url: site.url('api', `/developer/v2/activity/sleep/${segment(id)}`),
      cost: ONE_REQUEST,
      read: readsJson(sleep),
    }),
})
