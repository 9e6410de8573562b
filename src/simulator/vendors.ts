// All five vendors together, and what happens at several of them at once: a session recorded on a watch is an activity at Strava and at
// Garmin; a night is one at Oura, WHOOP and Garmin.
import { openFoursquare } from './foursquare/foursquare.ts'
import { openGarmin, type Garmin, type GarminOptions } from './garmin/garmin.ts'
import { openOura, type Oura } from './oura/oura.ts'
import type { VendorName } from './router.ts'
import type { Stage, Vendor } from './stage.ts'
import { openStrava, type Strava } from './strava/strava.ts'
import { openWhoop, type Whoop } from './whoop/whoop.ts'
import type { Night, SleepVendor } from './world/nights.ts'
import type { Workout } from './world/workouts.ts'

export interface Company {
  readonly strava: Strava
  readonly garmin: Garmin
  readonly oura: Oura
  readonly whoop: Whoop
  readonly foursquare: Vendor
}

export const openCompany = (stage: Stage, garmin: GarminOptions): Company => ({
  strava: openStrava(stage),
  garmin: openGarmin(stage, garmin),
  oura: openOura(stage),
  whoop: openWhoop(stage),
  foursquare: openFoursquare(stage),
})

export const vendorOf = (company: Company, name: VendorName): Vendor => company[name]

export function announceWorkout(company: Company, workout: Workout): void {
  company.strava.webhooks.created(workout)
  if (!workout.isManual) company.garmin.webhooks.activity(workout)
}

export function announceNight(company: Company, vendor: SleepVendor, night: Night, what: 'create' | 'update' | 'delete'): void {
  if (vendor === 'garmin' && what !== 'delete') company.garmin.webhooks.night(night)
  if (vendor === 'whoop') company.whoop.webhooks.sleep(what === 'delete' ? 'deleted' : 'updated', night)
  if (vendor !== 'oura') return
  company.oura.webhooks.tell(what, 'sleep', night.athlete, night.id)
  if (!night.isNap) company.oura.webhooks.tell(what, 'daily_sleep', night.athlete, night.scoreId)
}
