// What a person or a test may do to the simulated world: add and change things, set faults, read the journal, move time.
// control-routes.ts offers the same over HTTP.
import type { Client } from './clients.ts'
import type { SimulatorContext } from './context.ts'
import type { Fault } from './faults.ts'
import type { SimulatorState } from './journal.ts'
import type { VendorName } from './router.ts'
import { requestedDraft } from './strava/creation.ts'
import { announceNight, announceWorkout, vendorOf, type Vendors } from './vendors.ts'
import type { Athlete, VendorIds } from './world/athletes.ts'
import { checkinOf, type Checkin } from './world/checkins.ts'
import { keyedRandom } from './world/keyed-random.ts'
import { nightOf, type Night, type SleepVendor } from './world/nights.ts'
import type { Workout } from './world/workouts.ts'

type Fields = Readonly<Record<string, unknown>>

interface AthleteOptions {
  readonly seed?: number
  readonly activities?: number
  readonly nights?: number
  readonly broken?: number
}

export interface Control {
  state(): SimulatorState
  addAthlete(order?: AthleteOptions): { readonly id: string } & VendorIds
  /** Undefined if there is no such athlete. Without `athlete` it is the newest one. */
  addActivity(fields?: Fields): Workout | undefined
  /** A change of title, sport or privacy sends a webhook. */
  changeActivity(id: string, fields: Fields): Workout | undefined
  deleteActivity(id: string): boolean
  addSleep(vendor: SleepVendor, fields?: Fields): Night | undefined
  /** Changes the score or its state. */
  changeSleep(vendor: SleepVendor, id: string, fields: Fields): Night | undefined
  deleteSleep(vendor: SleepVendor, id: string): boolean
  /** A check-in now, near the athlete's home. */
  addCheckin(fields?: Fields): Checkin | undefined
  /** The athlete withdraws consent on the vendor's own site. */
  deauthorise(vendor: VendorName, athlete?: string): boolean
  expireTokens(vendor: VendorName): void
  registerClient(vendor: VendorName, client: Client): void
  setFaults(faults: readonly Fault[]): void
  clearFaults(): void
  faults(): readonly Fault[]
  advance(ms: number): number
}

interface ControlParts {
  readonly context: SimulatorContext
  readonly vendors: Vendors
  readonly defaults: Required<Omit<AthleteOptions, 'seed'>>
}

export function controlOf({ context, vendors, defaults }: ControlParts): Control {
  const { world, clock, faults, journal, clients } = context
  const named = (id: unknown): Athlete | undefined => athleteNamed(context, id)
  return {
    state: () => journal.snapshot(),
    addAthlete: (order = {}) => {
      const athlete = world.addAthlete({ ...defaults, broken: 0, ...order })
      return { id: athlete.id, ...athlete.ids }
    },
    addActivity: (fields = {}) => {
      const athlete = named(fields['athlete'])
      if (athlete === undefined) return undefined
      const workout = world.add(requestedDraft(fields, athlete, clock.now()))
      announceWorkout(vendors, workout)
      return workout
    },
    changeActivity: (id, fields) => changeActivity(context, vendors, id, fields),
    deleteActivity: id => {
      const workout = world.workouts.get(id)
      if (workout === undefined) return false
      world.workouts.delete(id)
      vendors.strava.webhooks.deleted(workout)
      return true
    },
    addSleep: (vendor, fields = {}) => addSleep(context, vendors, vendor, fields),
    changeSleep: (vendor, id, fields) => changeSleep(context, vendors, [vendor, id], fields),
    deleteSleep: (vendor, id) => {
      const night = world.nights[vendor].get(id)
      if (night === undefined) return false
      night.isDeleted = true
      night.updatedAt = clock.now()
      announceNight(vendors, vendor, night, 'delete')
      return true
    },
    addCheckin: (fields = {}) => addCheckin(context, fields),
    deauthorise: (vendor, id) => {
      const athlete = named(id)
      if (athlete !== undefined) vendorOf(vendors, vendor).deauthorise(athlete)
      return athlete !== undefined
    },
    expireTokens: vendor => vendorOf(vendors, vendor).grants.expireAccess(),
    registerClient: (vendor, client) => clients.register(vendor, client),
    setFaults: list => faults.add(list),
    clearFaults: () => faults.clear(),
    faults: () => faults.list(),
    advance: ms => {
      clock.advance(ms)
      return clock.now()
    },
  }
}

function athleteNamed({ world }: Pick<SimulatorContext, 'world'>, id: unknown): Athlete | undefined {
  if (id === undefined) return world.athletes.at(-1)
  return typeof id === 'string' || typeof id === 'number' ? world.athlete(String(id)) : undefined
}

function changeActivity({ world }: SimulatorContext, vendors: Vendors, id: string, fields: Fields): Workout | undefined {
  const workout = world.workouts.get(id)
  if (workout === undefined) return undefined
  const updates: Record<string, string> = {}
  if (typeof fields['name'] === 'string') updates['title'] = workout.name = fields['name']
  if (typeof fields['description'] === 'string') workout.description = fields['description']
  const sport = fields['sport_type'] ?? fields['sport']
  if (typeof sport === 'string') updates['type'] = workout.sport = sport
  if (typeof fields['private'] === 'boolean') {
    workout.isPrivate = fields['private']
    updates['private'] = String(fields['private'])
  }
  if (Object.keys(updates).length > 0) vendors.strava.webhooks.updated(workout, updates)
  return workout
}

const timeIn = (value: unknown): number | undefined => {
  const at = typeof value === 'string' ? Date.parse(value) : value
  return typeof at === 'number' && Number.isFinite(at) ? at : undefined
}

const stateIn = (value: unknown): Night['state'] | undefined =>
  value === 'SCORED' || value === 'PENDING_SCORE' || value === 'UNSCORABLE' ? value : undefined

function addSleep({ world, clock }: SimulatorContext, vendors: Vendors, vendor: SleepVendor, fields: Fields): Night | undefined {
  const athlete = athleteNamed({ world }, fields['athlete'])
  if (athlete === undefined) return undefined
  const hours = typeof fields['hours'] === 'number' ? fields['hours'] : 7.5
  const startAt = timeIn(fields['start']) ?? clock.now() - hours * 3_600_000
  const random = keyedRandom(athlete.seed, 'ordered-night', vendor, startAt, clock.now())
  const made = nightOf({ athlete, random, startAt, hours, isNap: fields['nap'] === true })
  const night: Night = { ...made, updatedAt: clock.now(), state: stateIn(fields['state']) ?? 'SCORED' }
  world.nights[vendor].set(night.id, night)
  announceNight(vendors, vendor, night, 'create')
  return night
}

function addCheckin({ world, clock }: SimulatorContext, fields: Fields): Checkin | undefined {
  const athlete = athleteNamed({ world }, fields['athlete'])
  if (athlete === undefined) return undefined
  const at = clock.now()
  const checkin = { ...checkinOf(athlete, keyedRandom(athlete.seed, 'ordered-checkin', at), 0), at }
  world.checkins.get(athlete.id)?.push(checkin)
  return checkin
}

function changeSleep(
  { world, clock }: SimulatorContext,
  vendors: Vendors,
  [vendor, id]: readonly [SleepVendor, string],
  fields: Fields,
): Night | undefined {
  const held = world.nights[vendor].get(id)
  if (held === undefined) return undefined
  const score = typeof fields['score'] === 'number' ? fields['score'] : held.score
  const night: Night = { ...held, score, state: stateIn(fields['state']) ?? held.state, updatedAt: clock.now() }
  world.nights[vendor].set(id, night)
  announceNight(vendors, vendor, night, 'update')
  return night
}
