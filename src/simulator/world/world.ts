// The simulated world: athletes with their workouts, nights and check-ins, as they are now. It is generated from the seed and the
// day on which it begins. Afterwards only the control API, the living world and the vendors' own write routes change it.
import { athleteOf, type Athlete } from './athletes.ts'
import { checkinsOf, type Checkin } from './checkins.ts'
import { nightsOfDay, type Night, type SleepVendor } from './nights.ts'
import { BROKEN_KINDS, DAY_MS, workoutsOfDay, type Draft, type Workout } from './workouts.ts'

export interface WorldOptions {
  readonly seed: number
  /** The history ends on the day before this instant. */
  readonly beginsAt: number
  /** Ids above 2^53, which no JavaScript number holds exactly. */
  readonly bigIds: boolean
}

interface NewAthlete {
  readonly seed?: number
  readonly activities: number
  readonly nights: number
  readonly broken: number
  /** How far back the check-ins go; two or three a week. */
  readonly checkinDays?: number
}

const SLEEP_VENDORS: readonly SleepVendor[] = ['oura', 'whoop', 'garmin']
const CHECKIN_DAYS = 180
/** Strava's ids began 2023 near 8.2e9 and grow by about 60 a second. Before that they grew more slowly. */
const ID_EPOCH_S = Date.UTC(2023, 0, 1) / 1000
const ID_BASE = 8_200_000_000
const IDS_PER_SECOND = 60
const BIG_BASE = 2n ** 53n + 1n

export class World {
  readonly athletes: Athlete[] = []
  readonly workouts = new Map<string, Workout>()
  readonly checkins = new Map<string, Checkin[]>()
  readonly nights: Readonly<Record<SleepVendor, Map<string, Night>>> = { oura: new Map(), whoop: new Map(), garmin: new Map() }
  readonly #options: WorldOptions

  constructor(options: WorldOptions) {
    this.#options = options
  }

  /** The first day after the history (days since 1970). */
  get firstDay(): number {
    return Math.floor(this.#options.beginsAt / DAY_MS)
  }

  addAthlete({ seed, activities, nights, broken, checkinDays = CHECKIN_DAYS }: NewAthlete): Athlete {
    const count = this.athletes.length
    const athlete = athleteOf(String(count + 1), seed ?? this.#options.seed + count * 7919)
    this.athletes.push(athlete)
    const drafts = this.#history(athlete, activities)
    for (const draft of drafts.toSorted((a, b) => a.uploadedAt - b.uploadedAt)) this.add(draft)
    this.#breakSome(athlete, broken)
    for (let back = 1; back <= nights; back++) this.addNights(athlete, this.firstDay - back)
    this.checkins.set(athlete.id, checkinsOf(athlete, this.firstDay - 1, checkinDays))
    return athlete
  }

  /** `count` workouts, backwards from the day before the world begins. */
  #history(athlete: Athlete, count: number): Draft[] {
    const drafts: Draft[] = []
    for (let day = this.firstDay - 1; drafts.length < count; day--) {
      const uploaded = workoutsOfDay(athlete, day).filter(draft => draft.uploadedAt <= this.#options.beginsAt)
      drafts.push(...uploaded)
    }
    return drafts.slice(0, count)
  }

  /** Breaks workouts at even distances, each kind in turn. Manual ones are left alone. */
  #breakSome(athlete: Athlete, count: number): void {
    const recorded = this.workoutsOf(athlete).filter(({ isManual }) => !isManual)
    const step = Math.max(1, Math.floor(recorded.length / Math.max(1, count)))
    for (let index = 0; index < Math.min(count, recorded.length); index++) {
      const workout = recorded[index * step]
      const kind = BROKEN_KINDS[index % BROKEN_KINDS.length]
      if (workout !== undefined && kind !== undefined) workout.broken = kind
    }
  }

  add(draft: Draft): Workout {
    const workout: Workout = { ...draft, id: this.#newId(draft.uploadedAt) }
    this.workouts.set(workout.id, workout)
    return workout
  }

  #newId(uploadedAt: number): string {
    const grown = (Math.floor(uploadedAt / 1000) - ID_EPOCH_S) * IDS_PER_SECOND
    const plain = grown >= 0 ? ID_BASE + grown : Math.ceil(ID_BASE * Math.exp(grown / ID_BASE))
    let id = BigInt(plain) + (this.#options.bigIds ? BIG_BASE : 0n)
    while (this.workouts.has(String(id))) id += 1n
    return String(id)
  }

  addNights(athlete: Athlete, day: number): Partial<Record<SleepVendor, Night[]>> {
    const added = SLEEP_VENDORS.map(vendor => {
      const nights = nightsOfDay(athlete, vendor, day)
      for (const night of nights) this.nights[vendor].set(night.id, night)
      return [vendor, nights] as const
    })
    return Object.fromEntries(added)
  }

  /** By the id in the simulator, or by an id at a vendor. */
  athlete(id: string): Athlete | undefined {
    return this.athletes.find(athlete => athlete.id === id || Object.values(athlete.ids).includes(id))
  }

  workoutsOf(athlete: Athlete): Workout[] {
    return [...this.workouts.values()].filter(workout => workout.athlete.id === athlete.id)
  }

  nightsOf(athlete: Athlete, vendor: SleepVendor): Night[] {
    return [...this.nights[vendor].values()].filter(night => night.athlete.id === athlete.id)
  }
}
