// The control API over HTTP: JSON under /_sim/. Wrong input is answered with a 400 that says what is wrong. What each route does
// is in control.ts.
import { json, type Answer } from './answer.ts'
import type { Control } from './control.ts'
import { FAULT_KINDS, type Fault, type FaultKind } from './faults.ts'
import { textOf, VENDORS, type Call, type Method, type VendorName } from './router.ts'
import type { Night, SleepVendor } from './world/nights.ts'
import type { Workout } from './world/workouts.ts'

export interface ControlRoute {
  readonly method: Method
  readonly template: string
  handle(call: Call): Answer
}

const LONGEST_ADVANCE_MS = 10 * 365 * 86_400_000

const bad = (error: string): Answer => json(400, { error })
const missing = (error: string): Answer => json(404, { error })

const route = (method: Method, template: string, handle: (call: Call) => Answer): ControlRoute => ({
  method,
  template: `/_sim/${template}`,
  handle,
})

export function controlRoutes(control: Control): ControlRoute[] {
  return [
    route('GET', 'state', () => json(200, control.state())),
    route('POST', 'athletes', call => addAthlete(control, call)),
    route('POST', 'strava/activities', call => addActivity(control, call)),
    route('PATCH', 'strava/activities/{id}', call =>
      shown(control.changeActivity(call.params['id'] ?? '', call.fields), 200, workoutPayload),
    ),
    route('DELETE', 'strava/activities/{id}', call => gone(control.deleteActivity(call.params['id'] ?? ''))),
    route('POST', 'garmin/activities', call => addActivity(control, call)),
    route('POST', 'foursquare/checkins', call => shown(control.addCheckin(call.fields), 201, checkin => checkin)),
    ...(['oura', 'whoop', 'garmin'] as const).flatMap(vendor => sleepRoutes(control, vendor)),
    ...VENDORS.flatMap(vendor => [
      route('POST', `${vendor}/deauthorize`, call =>
        gone(control.deauthorise(vendor, textOf(call.fields, 'athlete') || undefined)),
      ),
      route('POST', `${vendor}/expire`, () => {
        control.expireTokens(vendor)
        return json(200, {})
      }),
      route('POST', `${vendor}/clients`, call => register(control, vendor, call)),
    ]),
    route('GET', 'faults', () => json(200, control.faults())),
    route('POST', 'faults', call => setFaults(control, call)),
    route('DELETE', 'faults', () => {
      control.clearFaults()
      return json(200, [])
    }),
    route('POST', 'clock', call => advance(control, call)),
  ]
}

function sleepRoutes(control: Control, vendor: SleepVendor): ControlRoute[] {
  const path = vendor === 'garmin' ? ['garmin/sleep', 'garmin/sleeps'] : [`${vendor}/sleep`]
  return path.flatMap(template => [
    route('POST', template, call => {
      const problem = problemIn(call.fields)
      return problem === undefined ? shown(control.addSleep(vendor, call.fields), 201, nightPayload) : bad(problem)
    }),
    route('PATCH', `${template}/{id}`, call =>
      shown(control.changeSleep(vendor, call.params['id'] ?? '', call.fields), 200, nightPayload),
    ),
    route('DELETE', `${template}/{id}`, call => gone(control.deleteSleep(vendor, call.params['id'] ?? ''))),
  ])
}

/** Allowed numbers. A workout is generated second by second, so a year of it would take too long. */
const RANGES: Readonly<Record<string, readonly [number, number]>> = {
  elapsedSeconds: [1, 200_000],
  elapsed_time: [1, 200_000],
  distanceMeters: [0, 2_000_000],
  photos: [0, 50],
  hours: [0.1, 24],
  seed: [0, Number.MAX_SAFE_INTEGER],
  activities: [0, 20_000],
  nights: [0, 4000],
  broken: [0, 20_000],
}

/** What is wrong with the fields, in a sentence. */
function problemIn(fields: Readonly<Record<string, unknown>>): string | undefined {
  const start = fields['start'] ?? fields['start_date']
  if (start !== undefined && (typeof start !== 'string' || Number.isNaN(Date.parse(start)))) return 'start must be a date'
  const wrong = Object.entries(RANGES).find(([name, [from, to]]) => {
    const value = fields[name]
    return value !== undefined && !(typeof value === 'number' && value >= from && value <= to)
  })
  return wrong === undefined ? undefined : `${wrong[0]} must be a number from ${wrong[1][0]} to ${wrong[1][1]}`
}

function addActivity(control: Control, call: Call): Answer {
  const problem = problemIn(call.fields)
  return problem === undefined ? shown(control.addActivity(call.fields), 201, workoutPayload) : bad(problem)
}

const shown = <T>(made: T | undefined, status: number, payload: (made: T) => unknown): Answer =>
  made === undefined ? missing('No such athlete, activity or night') : json(status, payload(made))

const gone = (done: boolean): Answer => (done ? json(200, {}) : missing('Nothing has this id'))

const workoutPayload = (workout: Workout): unknown => ({
  id: workout.id,
  athlete: workout.athlete.id,
  name: workout.name,
  sport: workout.sport,
  start: new Date(workout.startAt).toISOString(),
  private: workout.isPrivate,
  manual: workout.isManual,
})

const nightPayload = (night: Night): unknown => ({
  id: night.id,
  athlete: night.athlete.id,
  day: night.day,
  start: new Date(night.startAt).toISOString(),
  end: new Date(night.endAt).toISOString(),
  state: night.state,
})

function addAthlete(control: Control, call: Call): Answer {
  const problem = problemIn(call.fields)
  if (problem !== undefined) return bad(problem)
  const { seed, activities, nights, broken } = call.fields as Partial<Record<'seed' | 'activities' | 'nights' | 'broken', number>>
  const whole = Object.entries({ seed, activities, nights, broken }).filter(([, value]) => value !== undefined)
  const wrong = whole.find(([, value]) => !Number.isSafeInteger(value))
  return wrong === undefined
    ? json(201, control.addAthlete(Object.fromEntries(whole)))
    : bad(`${wrong[0]} must be a whole number`)
}

function register(control: Control, vendor: VendorName, call: Call): Answer {
  const client = { id: textOf(call.fields, 'id'), secret: textOf(call.fields, 'secret') }
  if (client.id === '' || client.secret === '') return bad('id and secret are required')
  control.registerClient(vendor, client)
  return json(201, { id: client.id })
}

function advance(control: Control, call: Call): Answer {
  const ms = call.fields['advanceMs']
  if (typeof ms !== 'number' || !(ms >= 0 && ms <= LONGEST_ADVANCE_MS))
    return bad('advanceMs must be a number of milliseconds from 0 to ten years')
  return json(200, { now: new Date(control.advance(ms)).toISOString() })
}

function setFaults(control: Control, call: Call): Answer {
  const items = Array.isArray(call.fields['items']) ? (call.fields['items'] as unknown[]) : [call.fields]
  const read = items.map(faultIn)
  const wrong = read.find(one => typeof one === 'string')
  if (typeof wrong === 'string') return bad(wrong)
  control.setFaults(read.filter(one => typeof one !== 'string'))
  return json(200, control.faults())
}

/** The fault, or what is wrong with it. */
function faultIn(value: unknown): Fault | string {
  const fields = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
  const vendor = VENDORS.find(name => name === fields['vendor'])
  const kind: FaultKind | undefined = FAULT_KINDS.find(name => name === String(fields['kind']))
  if (vendor === undefined) return `vendor must be one of ${VENDORS.join(', ')}`
  if (kind === undefined) return `kind must be one of ${FAULT_KINDS.join(', ')}`
  const wrong = ['times', 'probability', 'ms'].find(name => fields[name] !== undefined && typeof fields[name] !== 'number')
  if (wrong !== undefined) return `${wrong} must be a number`
  const { route, times, probability, ms } = fields as { route?: unknown; times?: number; probability?: number; ms?: number }
  return {
    vendor,
    kind,
    ...(typeof route === 'string' ? { route } : {}),
    ...(times === undefined ? {} : { times }),
    ...(probability === undefined ? {} : { probability }),
    ...(ms === undefined ? {} : { ms }),
  }
}
