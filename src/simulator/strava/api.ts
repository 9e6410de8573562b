// Strava's activities: list, detail, laps, photos, streams, update, creation. The list is ordered by start, newest first, but
// oldest first when only `after` is given. A page is an offset into the list as it is now.
import { json, type Answer } from '../answer.ts'
import type { SimulatorContext } from '../context.ts'
import type { Grant } from '../grants.ts'
import { textOf, type Call, type Method, type Route } from '../router.ts'
import { recordingOf } from '../world/recordings.ts'
import type { Workout } from '../world/workouts.ts'
import { manualDraft } from './creation.ts'
import { detailedActivity, lapsOf } from './detail.ts'
import { detailedAthlete, photosOf, summaryActivity } from './payloads.ts'
import { badRequest, errorAnswer, recordNotFound, unauthorised } from './refusals.ts'
import { streamsAnswer } from './streams.ts'
import type { StravaWebhooks } from './webhooks.ts'

const PAGE = 30
const LARGEST_PAGE = 200
const READ = ['activity:read', 'activity:read_all'] as const
/** A grey square for every photo. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mOorq7+DwAFfwJ+d8fR2wAAAABJRU5ErkJggg==',
  'base64',
)

type Handle = (call: Call, grant: Grant) => Answer | Promise<Answer>

export function apiRoutes(context: SimulatorContext, webhooks: StravaWebhooks): Route[] {
  const one =
    (answer: (call: Call, workout: Workout, grant: Grant) => Answer): Handle =>
    (call, grant) => {
      const workout = visible(context, call, grant)
      if (workout === undefined) return recordNotFound('Activity')
      return workout.broken === 'detail_error' ? errorAnswer(500, 'Internal Server Error') : answer(call, workout, grant)
    }
  const activity = '/api/v3/activities/{id}'
  const publicUrl = (): string => context.publicUrl()
  return [
    route('GET', '/api/v3/athlete', ['read', 'read_all', 'profile:read_all', ...READ], (_, grant) =>
      json(200, detailedAthlete(grant.athlete)),
    ),
    route('GET', '/api/v3/athlete/activities', READ, (call, grant) => list(context, call, grant)),
    route(
      'GET',
      activity,
      READ,
      one((_, workout) => json(200, detailedActivity(workout, publicUrl()))),
    ),
    route(
      'GET',
      `${activity}/laps`,
      READ,
      one((_, workout) => json(200, workout.isManual ? [] : lapsOf(workout, recordingOf(workout)))),
    ),
    route(
      'GET',
      `${activity}/photos`,
      READ,
      one((call, workout) => json(200, photosOf(workout, { size: call.query.get('size') ?? '600', publicUrl: publicUrl() }))),
    ),
    route(
      'GET',
      `${activity}/streams`,
      READ,
      one((call, workout) => streamsAnswer(call, workout)),
    ),
    route(
      'PUT',
      activity,
      ['activity:write'],
      one((call, workout, grant) => update({ context, webhooks, call, workout, grant })),
    ),
    route('POST', '/api/v3/activities', ['activity:write'], (call, grant) => create(context, webhooks, call, grant)),
    {
      vendor: 'strava',
      method: 'GET',
      template: '/photos/{name}',
      access: 'open',
      handle: () => ({ status: 200, headers: { 'content-type': 'image/png' }, body: PIXEL }),
    },
  ]
}

const route = (method: Method, template: string, access: readonly string[], handle: Handle): Route => ({
  vendor: 'strava',
  method,
  template,
  access,
  handle: (call, grant) => (grant === undefined ? unauthorised('Athlete', 'access_token', 'invalid') : handle(call, grant)),
})

/** Undefined if the activity is not the athlete's own, or private and the grant does not cover private ones. */
function visible({ world }: SimulatorContext, call: Call, grant: Grant): Workout | undefined {
  const workout = world.workouts.get(call.params['id'] ?? '')
  if (workout === undefined || workout.athlete.id !== grant.athlete.id) return undefined
  return mayShow(grant)(workout) ? workout : undefined
}

const mayShow =
  (grant: Grant) =>
  (workout: Workout): boolean =>
    !workout.isPrivate || grant.scopes.has('activity:read_all')

function list(context: SimulatorContext, call: Call, grant: Grant): Answer {
  const number = (name: string): number | undefined => (call.query.has(name) ? Number(call.query.get(name)) : undefined)
  const [before, after] = [number('before'), number('after')]
  const wrong = Object.entries({ before, after, page: number('page'), per_page: number('per_page') }).find(([, value]) =>
    Number.isNaN(value),
  )
  if (wrong !== undefined) return badRequest('Application', wrong[0], 'invalid')
  if (after !== undefined && after * 1000 > context.clock.now()) return badRequest('Application', 'after', 'future')
  const page = Math.max(1, number('page') ?? 1)
  const size = Math.min(LARGEST_PAGE, Math.max(1, number('per_page') ?? PAGE))
  const chosen = context.world
    .workoutsOf(grant.athlete)
    .filter(mayShow(grant))
    .filter(workout => inBounds(context, workout, before, after))
  const sorted = chosen.toSorted(newestFirst)
  if (after !== undefined && before === undefined) sorted.reverse()
  return json(200, sorted.slice((page - 1) * size, page * size).map(summaryActivity))
}

function inBounds(
  { quirks }: SimulatorContext,
  { startAt }: Workout,
  before: number | undefined,
  after: number | undefined,
): boolean {
  const slack = quirks.inclusiveBounds ? 1 : 0
  const second = Math.floor(startAt / 1000)
  return (before === undefined || second < before + slack) && (after === undefined || second > after - slack)
}

const newestFirst = (a: Workout, b: Workout): number => b.startAt - a.startAt || Number(BigInt(b.id) - BigInt(a.id))

interface Update {
  readonly context: SimulatorContext
  readonly webhooks: StravaWebhooks
  readonly call: Call
  readonly workout: Workout
  readonly grant: Grant
}

function update({ context, webhooks, call, workout }: Update): Answer {
  const { fields } = call
  const has = (name: string): boolean => fields[name] !== undefined
  const flag = (name: string): boolean => fields[name] === true || fields[name] === 'true' || fields[name] === '1'
  const before = { name: workout.name, sport: workout.sport }
  if (has('name')) workout.name = textOf(fields, 'name')
  if (has('description')) workout.description = textOf(fields, 'description')
  if (has('sport_type')) workout.sport = textOf(fields, 'sport_type')
  else if (has('type')) workout.sport = textOf(fields, 'type')
  if (has('commute')) workout.isCommute = flag('commute')
  if (has('trainer')) workout.isTrainer = flag('trainer')
  if (has('hide_from_home')) workout.isHidden = flag('hide_from_home')
  if (has('gear_id')) workout.gearId = textOf(fields, 'gear_id') === 'none' ? undefined : textOf(fields, 'gear_id')
  context.journal.update('strava', workout.id)
  const changes = {
    ...(workout.name === before.name ? {} : { title: workout.name }),
    ...(workout.sport === before.sport ? {} : { type: workout.sport }),
  }
  // Only a changed title or type is an event; a changed description is not.
  if (Object.keys(changes).length > 0) webhooks.updated(workout, changes)
  return json(200, detailedActivity(workout, context.publicUrl()))
}

function create(context: SimulatorContext, webhooks: StravaWebhooks, call: Call, grant: Grant): Answer {
  const draft = manualDraft(call.fields, grant.athlete, context.clock.now())
  if (draft === undefined) return badRequest('Activity', 'name, sport_type, start_date_local, elapsed_time', 'missing')
  const workout = context.world.add(draft)
  webhooks.created(workout)
  return json(201, detailedActivity(workout, context.publicUrl()))
}
