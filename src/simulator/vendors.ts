// All five vendors together, and the events that several of them send at once: a workout recorded on a watch is an activity at
// Strava and at Garmin.
import type { SimulatorContext } from './context.ts'
import { openFoursquare } from './foursquare/foursquare.ts'
import { openGarmin, type Garmin, type GarminOptions } from './garmin/garmin.ts'
import { openOura, type Oura } from './oura/oura.ts'
import type { VendorName } from './router.ts'
import { openStrava, type Strava } from './strava/strava.ts'
import type { Vendor } from './vendor.ts'
import { openWhoop, type Whoop } from './whoop/whoop.ts'
import type { Night, SleepVendor } from './world/nights.ts'
import type { Workout } from './world/workouts.ts'

export interface Vendors {
  readonly strava: Strava
  readonly garmin: Garmin
  readonly oura: Oura
  readonly whoop: Whoop
  readonly foursquare: Vendor
}

export const openVendors = (context: SimulatorContext, garmin: GarminOptions): Vendors => ({
  strava: openStrava(context),
  garmin: openGarmin(context, garmin),
  oura: openOura(context),
  whoop: openWhoop(context),
  foursquare: openFoursquare(context),
})

export const vendorOf = (vendors: Vendors, name: VendorName): Vendor => vendors[name]

export function announceWorkout(vendors: Vendors, workout: Workout): void {
  vendors.strava.webhooks.created(workout)
  if (!workout.isManual) vendors.garmin.webhooks.activity(workout)
}

export function announceNight(vendors: Vendors, vendor: SleepVendor, night: Night, what: 'create' | 'update' | 'delete'): void {
  if (vendor === 'garmin' && what !== 'delete') vendors.garmin.webhooks.night(night)
  if (vendor === 'whoop') vendors.whoop.webhooks.sleep(what === 'delete' ? 'deleted' : 'updated', night)
  if (vendor !== 'oura') return
  vendors.oura.webhooks.tell(what, 'sleep', night.athlete, night.id)
  if (!night.isNap) vendors.oura.webhooks.tell(what, 'daily_sleep', night.athlete, night.scoreId)
}
