// Oura's collections: documents by day, in pages with an opaque token, and single documents. Deleted nights stay in the list with
// the type `deleted`.
import { json, type Answer } from '../answer.ts'
import type { SimulatorContext } from '../context.ts'
import type { Grant } from '../grants.ts'
import type { Call, Route } from '../router.ts'
import { localDay } from '../world/local-time.ts'
import type { Night } from '../world/nights.ts'
import { DAY_MS } from '../world/workouts.ts'
import { dailyDocument, sleepDocument } from './payloads.ts'

/** Undocumented; small enough that ninety nights need two pages. */
const PAGE = 50

interface Collection {
  readonly name: string
  readonly idOf: (night: Night) => string
  readonly has: (night: Night) => boolean
  readonly payload: (night: Night) => Readonly<Record<string, unknown>>
}

const COLLECTIONS: readonly Collection[] = [
  { name: 'sleep', idOf: night => night.id, has: () => true, payload: sleepDocument },
  { name: 'daily_sleep', idOf: night => night.scoreId, has: night => !night.isNap && !night.isDeleted, payload: dailyDocument },
]

export const refusal = (status: number, detail: string): Answer => json(status, { detail })

const get = (path: string, scope: string, handle: (call: Call, grant: Grant) => Answer): Route => ({
  vendor: 'oura',
  method: 'GET',
  template: `/v2/usercollection/${path}`,
  access: [scope],
  handle: (call, grant) => (grant === undefined ? refusal(401, 'Unauthorized') : handle(call, grant)),
})

export function apiRoutes(context: SimulatorContext): Route[] {
  return [
    get('personal_info', 'personal', (_, grant) => json(200, personalInfo(grant))),
    ...COLLECTIONS.flatMap(collection => [
      get(collection.name, 'daily', (call, grant) => pageOf(context, collection, call, grant)),
      get(`${collection.name}/{document_id}`, 'daily', (call, grant) => documentOf(context, collection, call, grant)),
    ]),
  ]
}

const personalInfo = ({ athlete, scopes }: Grant): Record<string, unknown> => ({
  id: athlete.ids.oura,
  age: athlete.ageYears,
  weight: athlete.weightKg,
  height: athlete.heightM,
  biological_sex: athlete.sex === 'M' ? 'male' : 'female',
  email: scopes.has('email') ? `${athlete.firstName}@example.org`.toLowerCase() : null,
})

const DATE = /^\d{4}-\d{2}-\d{2}$/

function invalid(call: Call): Answer | undefined {
  const wrong = ['start_date', 'end_date'].find(name => {
    const value = call.query.get(name)
    return value !== null && (!DATE.test(value) || Number.isNaN(Date.parse(value)))
  })
  if (wrong === undefined) return undefined
  return json(422, { detail: [{ loc: ['query', wrong], msg: 'invalid date format', type: 'value_error.date' }] })
}

function pageOf({ world, clock }: SimulatorContext, collection: Collection, call: Call, grant: Grant): Answer {
  const problem = invalid(call)
  if (problem !== undefined) return problem
  const today = localDay(grant.athlete.home.zone, clock.now())
  const end = call.query.get('end_date') ?? today
  const start = call.query.get('start_date') ?? new Date(Date.parse(end) - DAY_MS).toISOString().slice(0, 10)
  if (start > end) return refusal(400, 'Start date is greater than end date')
  const offset = offsetIn(call)
  if (offset === undefined) return refusal(400, 'Invalid next_token')
  const found = world
    .nightsOf(grant.athlete, 'oura')
    .filter(night => collection.has(night) && night.day >= start && night.day <= end)
    .toSorted((a, b) => a.startAt - b.startAt)
  const isMore = found.length > offset + PAGE
  return json(200, {
    data: found.slice(offset, offset + PAGE).map(collection.payload),
    next_token: isMore ? tokenFor(offset + PAGE) : null,
  })
}

const tokenFor = (offset: number): string => Buffer.from(`o:${offset}`).toString('base64url')

function offsetIn(call: Call): number | undefined {
  const token = call.query.get('next_token')
  if (token === null) return 0
  const offset = /^o:(\d+)$/.exec(Buffer.from(token, 'base64url').toString())?.[1]
  return offset === undefined ? undefined : Number(offset)
}

function documentOf({ world }: SimulatorContext, collection: Collection, call: Call, grant: Grant): Answer {
  const night = world
    .nightsOf(grant.athlete, 'oura')
    .find(one => collection.idOf(one) === call.params['document_id'] && collection.has(one))
  return night === undefined ? refusal(404, 'Document not found') : json(200, collection.payload(night))
}
