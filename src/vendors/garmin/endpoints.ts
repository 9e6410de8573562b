// What can be asked of Garmin: to send history again, and what a ping announced. Everything else it sends by itself.
import assert from 'node:assert/strict'
import { entries, pageBy, readsJson, readsNothing, type Page, type Read } from '../shapes.ts'
import { requestOf, type Site } from '../site.ts'
import type { VendorRequest } from '../vendor.ts'
import type { GarminSummary } from '../webhooks.ts'
import { readSummary } from './summaries.ts'

/** Notes disagree between 30 and 90 days; 30 is right in both. */
export const BACKFILL_DAYS_MAX = 30
const DAY_SECONDS = 86_400

export interface GarminEndpoints {
  /** Answered with 202 and nothing: the data comes later by push or ping. 409 means that this range was asked for before. */
  backfill(
    type: 'activities' | 'activityDetails' | 'sleeps',
    range: { readonly fromSeconds: number; readonly toSeconds: number },
  ): VendorRequest<undefined>
  /** Undefined for a URL that is not Garmin's: the webhook's proof is weak, and the token must not go elsewhere. */
  announced(ping: {
    readonly dataKind: GarminSummary['dataKind']
    readonly callbackUrl: string
  }): VendorRequest<Page<GarminSummary>> | undefined
}

export const endpointsOf = (site: Site): GarminEndpoints => ({
  backfill: (type, { fromSeconds, toSeconds }) => {
    const days = Math.ceil((toSeconds - fromSeconds) / DAY_SECONDS)
    assert(days >= 1 && days <= BACKFILL_DAYS_MAX && toSeconds < 1e11, 'a backfill spans 1 to 30 days, in seconds')
    return requestOf(site, {
      endpoint: 'backfill',
      url: site.url('api', `/wellness-api/rest/backfill/${type}`, {
        summaryStartTimeInSeconds: fromSeconds,
        summaryEndTimeInSeconds: toSeconds,
      }),
      // Asking twice is paid twice and answered with 409.
      idempotent: false,
      cost: [
        { pool: 'requests', units: 1 },
        { pool: 'backfill-days', units: days },
      ],
      read: readsNothing,
    })
  },
  announced: ({ dataKind, callbackUrl }) =>
    isOurs(site, callbackUrl)
      ? requestOf(site, {
          endpoint: 'announced',
          // Exactly as it was given: it carries a token of its own.
          url: callbackUrl,
          cost: [{ pool: 'requests', units: 1 }],
          read: readsSummaries(dataKind),
        })
      : undefined,
})

export function isOurs(site: Site, callbackUrl: string): boolean {
  if (!URL.canParse(callbackUrl)) return false
  const [theirs, ours] = [new URL(callbackUrl), new URL(site.url('api', '/wellness-api/rest/'))]
  return theirs.origin === ours.origin && theirs.pathname.startsWith(ours.pathname) && theirs.username === ''
}

const readsSummaries = (dataKind: GarminSummary['dataKind']): Read<Page<GarminSummary>> =>
  readsJson(entries.transform(list => pageBy(entry => readSummary(dataKind, entry), list, 'summaryId')))
