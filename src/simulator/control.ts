// What a person or a test may do to the simulated world: add and change things, order trouble, read what was asked, move time. Typed
// functions first; `control-routes.ts` puts them under /_sim/.
import { announceNight, announceWorkout, vendorOf, type Company } from './company.ts'
import type { Client } from './clients.ts'
import type { Fault } from './faults.ts'
import type { SimulatorState } from './journal.ts'
import type { VendorName } from './router.ts'
import type { Stage } from './stage.ts'
import { orderedDraft } from './strava/creation.ts'
import { chance } from './world/chance.ts'
import type { Athlete, VendorIds } from './world/athletes.ts'
import { checkinOf, type Checkin } from './world/checkins.ts'
import { nightOf, type Night, type SleepVendor } from './world/nights.ts'
import type { Workout } from './world/workouts.ts'

type Fields = Readonly<Record<string, unknown>>

export interface AthleteOrder {
  readonly seed?: number
  readonly activities?: number
  readonly nights?: number
  readonly broken?: number
}

export interface Control {
  state(): SimulatorState
  addAthlete(order?: AthleteOrder): { readonly id: string } & VendorIds
  /** Nothing when there is no such athlete; without one, the newest. */
  addActivity(fields?: Fields): Workout | undefined
  /** Title, sport and privacy are what vendors tell about. */
  changeActivity(id: string, fields: Fields): Workout | undefined
  deleteActivity(id: string): boolean
  addSleep(vendor: SleepVendor, fields?: Fields): Night | undefined
  /** Edited by the athlete: a new end, a score that was pending. */
  changeSleep(vendor: SleepVendor, id: string, fields: Fields): Night | undefined
  deleteSleep(vendor: SleepVendor, id: string): boolean
  /** Where the athlete is now. */
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

export interface ControlParts {
  readonly stage: Stage
  readonly company: Company
  readonly defaults: Required<Omit<AthleteOrder, 'seed'>>
}

export function controlOf({ stage, company, defaults }: ControlParts): Control {
  const { world, clock, faults, journal, clients } = stage
  const named = (id: unknown): Athlete | undefined => athleteNamed(stage, id)
  return {
    state: () => journal.snapshot(),
    addAthlete: (order = {}) => {
      const athlete = world.addAthlete({ ...defaults, broken: 0, ...order })
      return { id: athlete.id, ...athlete.ids }
    },
    addActivity: (fields = {}) => {
      const athlete = named(fields['athlete'])
      if (athlete === undefined) return undefined
      const workout = world.add(orderedDraft(fields, athlete, clock.now()))
      announceWorkout(company, workout)
      return workout
    },
    changeActivity: (id, fields) => changeActivity(stage, company, id, fields),
    deleteActivity: id => {
      const workout = world.workouts.get(id)
      if (workout === undefined) return false
      world.workouts.delete(id)
      company.strava.webhooks.deleted(workout)
      return true
    },
    addSleep: (vendor, fields = {}) => addSleep(stage, company, vendor, fields),
    changeSleep: (vendor, id, fields) => changeSleep(stage, company, [vendor, id], fields),
    deleteSleep: (vendor, id) => {
      const night = world.nights[vendor].get(id)
      if (night === undefined) return false
      night.isDeleted = true
      night.updatedAt = clock.now()
      announceNight(company, vendor, night, 'delete')
      return true
    },
    addCheckin: (fields = {}) => addCheckin(stage, fields),
    deauthorise: (vendor, id) => {
      const athlete = named(id)
      if (athlete !== undefined) vendorOf(company, vendor).deauthorise(athlete)
      return athlete !== undefined
    },
    expireTokens: vendor => vendorOf(company, vendor).grants.expireAccess(),
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

function athleteNamed({ world }: Pick<Stage, 'world'>, id: unknown): Athlete | undefined {
  if (id === undefined) return world.athletes.at(-1)
  return typeof id === 'string' || typeof id === 'number' ? world.athlete(String(id)) : undefined
}

function changeActivity({ world }: Stage, company: Company, id: string, fields: Fields): Workout | undefined {
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
  if (Object.keys(updates).length > 0) company.strava.webhooks.updated(workout, updates)
  return workout
}

const timeIn = (value: unknown): number | undefined => {
  const at = typeof value === 'string' ? Date.parse(value) : value
  return typeof at === 'number' && Number.isFinite(at) ? at : undefined
}

const stateIn = (value: unknown): Night['state'] | undefined =>
  value === 'SCORED' || value === 'PENDING_SCORE' || value === 'UNSCORABLE' ? value : undefined

function addSleep({ world, clock }: Stage, company: Company, vendor: SleepVendor, fields: Fields): Night | undefined {
  const athlete = athleteNamed({ world }, fields['athlete'])
  if (athlete === undefined) return undefined
  const hours = typeof fields['hours'] === 'number' ? fields['hours'] : 7.5
  const startAt = timeIn(fields['start']) ?? clock.now() - hours * 3_600_000
  const dice = chance(athlete.seed, 'ordered-night', vendor, startAt, clock.now())
  const made = nightOf({ athlete, dice, startAt, hours, isNap: fields['nap'] === true })
  const night: Night = { ...made, updatedAt: clock.now(), state: stateIn(fields['state']) ?? 'SCORED' }
  world.nights[vendor].set(night.id, night)
  announceNight(company, vendor, night, 'create')
  return night
}

function addCheckin({ world, clock }: Stage, fields: Fields): Checkin | undefined {
  const athlete = athleteNamed({ world }, fields['athlete'])
  if (athlete === undefined) return undefined
  const at = clock.now()
  const checkin = { ...checkinOf(athlete, chance(athlete.seed, 'ordered-checkin', at), 0), at }
  world.checkins.get(athlete.id)?.push(checkin)
  return checkin
}

function changeSleep(
  { world, clock }: Stage,
  company: Company,
  [vendor, id]: readonly [SleepVendor, string],
  fields: Fields,
): Night | undefined {
  const held = world.nights[vendor].get(id)
  if (held === undefined) return undefined
  const score = typeof fields['score'] === 'number' ? fields['score'] : held.score
  const night: Night = { ...held, score, state: stateIn(fields['state']) ?? held.state, updatedAt: clock.now() }
  world.nights[vendor].set(id, night)
  announceNight(company, vendor, night, 'update')
  return night
}
