// What can be asked of Milepost.
import { readsPage, type Page } from '../shapes.ts'
import { requestOf, type Site } from '../site.ts'
import type { Charge, VendorRequest } from '../vendor.ts'
import { workout, type MilepostWorkout } from './wire.ts'

export const PER_PAGE = 10

export const ONE_REQUEST: readonly Charge[] = [{ pool: 'app', units: 1 }]

export interface MilepostEndpoints {
  /** Newest first; `before` is in epoch seconds. */
  workouts(ask: { readonly before?: number | undefined; readonly page: number }): VendorRequest<Page<MilepostWorkout>>
}

export const endpointsOf = (site: Site): MilepostEndpoints => ({
  workouts: ({ before, page }) =>
    requestOf(site, {
      endpoint: 'workouts',
      url: site.url('api', '/v1/workouts', { before, page, per_page: PER_PAGE }),
      cost: ONE_REQUEST,
      read: readsPage(workout),
    }),
})
