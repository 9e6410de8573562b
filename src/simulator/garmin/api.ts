// Garmin's REST API: user id, permissions, deregistration, backfill (which answers 202 and delivers later), and the addresses to
// which a ping points, which need the ping's token.
import { empty, json, type Answer } from '../answer.ts'
import type { SimulatorContext } from '../context.ts'
import type { Grant, Grants } from '../grants.ts'
import type { Call, Method, Route } from '../router.ts'
import type { Athlete } from '../world/athletes.ts'
import { DAY_MS } from '../world/workouts.ts'
import { refusal, type GarminRateLimiter } from './limits.ts'
import { activityPayload, detailsPayload, sleepPayload } from './payloads.ts'
import { GARMIN_TYPES, type GarminType, type GarminWebhooks } from './webhooks.ts'

/** Two limits were seen; this is the stricter one. */
const LONGEST_BACKFILL_DAYS = 30
const PULL_WINDOW_S = 86_400
/** How long a backfill takes here before its first delivery. */
const BACKFILL_AFTER_MS = 20_000
const BATCH = 20

type Summary = Readonly<Record<string, unknown>>
type Span = readonly [fromAt: number, toAt: number]

interface GarminParts {
  readonly context: SimulatorContext
  readonly grants: Grants
  readonly webhooks: GarminWebhooks
  readonly rateLimiter: GarminRateLimiter
  /** Runs work that goes on after the answer. */
  readonly inBackground: (work: (signal: AbortSignal) => Promise<void>) => void
}

const route = (method: Method, path: string, handle: (call: Call, grant: Grant) => Answer): Route => ({
  vendor: 'garmin',
  method,
  template: `/wellness-api/rest/${path}`,
  access: [],
  handle: (call, grant) => (grant === undefined ? refusal(401, 'Unauthorized') : handle(call, grant)),
})

export function apiRoutes(parts: GarminParts): Route[] {
  const requested = new Set<string>()
  return [
    route('GET', 'user/id', (_, grant) => json(200, { userId: grant.athlete.ids.garmin })),
    route('GET', 'user/permissions', (_, grant) => json(200, [...grant.scopes])),
    route('DELETE', 'user/registration', (_, grant) => {
      parts.grants.revoke(grant)
      parts.webhooks.deregistered(grant.athlete, grant.client)
      return empty(204)
    }),
    route('GET', 'backfill/{type}', (call, grant) => backfill(parts, requested, call, grant)),
    { vendor: 'garmin', method: 'GET', template: '/wellness-api/rest/{type}', access: 'open', handle: call => pull(parts, call) },
  ]
}

function pull({ webhooks }: GarminParts, call: Call): Answer {
  const [from, to] = rangeIn(call, 'upload')
  const held = webhooks.pulls.get(call.query.get('token') ?? '')
  if (held === undefined) return refusal(400, 'InvalidPullTokenException failure')
  return to - from > PULL_WINDOW_S ? refusal(400, 'Time range exceeds 86400 seconds') : json(200, held)
}

const rangeIn = (call: Call, kind: 'upload' | 'summary'): [number, number] => [
  Number(call.query.get(`${kind}StartTimeInSeconds`) ?? Number.NaN),
  Number(call.query.get(`${kind}EndTimeInSeconds`) ?? Number.NaN),
]

const isType = (text: string | undefined): text is GarminType => (GARMIN_TYPES as readonly (string | undefined)[]).includes(text)

function backfill(parts: GarminParts, requested: Set<string>, call: Call, grant: Grant): Answer {
  const { type } = call.params
  if (!isType(type)) return refusal(400, `Endpoint not enabled for summary type: ${type}`)
  const [from, to] = rangeIn(call, 'summary')
  if (!(to > from)) return refusal(400, 'summaryStartTimeInSeconds and summaryEndTimeInSeconds are required')
  const days = Math.ceil((to - from) / (DAY_MS / 1000))
  if (days > LONGEST_BACKFILL_DAYS) return refusal(400, `Time range exceeds ${LONGEST_BACKFILL_DAYS} days`)
  if (!grant.scopes.has('HISTORICAL_DATA_EXPORT')) return refusal(403, 'User has not granted HISTORICAL_DATA_EXPORT')
  const { garminHistoryDays } = parts.context.quirks
  if (garminHistoryDays !== undefined && from * 1000 < grant.openedAt - garminHistoryDays * DAY_MS)
    return refusal(400, `summaryStartTimeInSeconds ${from} is before the min start time for this user`)
  const key = `${grant.client}:${grant.athlete.id}:${type}:${from}:${to}`
  if (requested.has(key)) return refusal(409, 'Duplicate backfill request')
  const over = parts.rateLimiter.chargeDays(grant.client, days)
  if (over !== undefined) return over
  requested.add(key)
  parts.inBackground(async signal => {
    await parts.context.clock.sleep(BACKFILL_AFTER_MS, signal)
    deliverAll(parts, type, grant.athlete, [from * 1000, to * 1000])
  })
  return empty(202)
}

function deliverAll({ context, webhooks }: GarminParts, type: GarminType, athlete: Athlete, span: Span): void {
  const summaries = summariesOf(context, type, athlete, span)
  // Details are large: one at a time.
  const size = type === 'activityDetails' ? 1 : BATCH
  for (let index = 0; index < summaries.length; index += size)
    webhooks.deliver(type, athlete, summaries.slice(index, index + size))
}

function summariesOf({ world }: SimulatorContext, type: GarminType, athlete: Athlete, [from, to]: Span): Summary[] {
  const isWithin = ({ startAt }: { startAt: number }): boolean => startAt >= from && startAt < to
  if (type === 'sleeps') return world.nightsOf(athlete, 'garmin').filter(isWithin).map(sleepPayload)
  const workouts = world.workoutsOf(athlete).filter(isWithin)
  return type === 'activities'
    ? workouts.map(activityPayload)
    : workouts.map(detailsPayload).filter(details => details !== undefined)
}
