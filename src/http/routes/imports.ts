// The athlete's imports: asking for one, and how it goes.
import { z } from 'zod'
import { PacelineError } from '../../kernel/errors.ts'
import { IMPORT_TYPES, importLifecycle, importStatuses, PAUSE_CAUSES, type ImportView } from '../../imports/imports.ts'
import { vendorNames, vendors, type VendorName } from '../../vendors/vendors.ts'
import { count, errorAnswer, id, idInPath, instant, listOf, pageAsked, pageOf } from '../answers.ts'
import type { App, HttpParts } from '../app.ts'
import type { LiveKind } from '../feed.ts'

const importAnswer = z.object({
  id,
  vendor: z.enum(vendorNames),
  type: z.enum(IMPORT_TYPES),
  status: z.enum(importStatuses),
  progress: z.object({
    listed: count.describe('Activities, nights or check-ins found so far'),
    detailed: count.describe('How many of them have their details'),
    photos: count.describe('Activities whose photos were fetched'),
    total: count.nullable().describe('How many there will be; null while unknown'),
  }),
  cursor: z.record(z.string(), z.unknown()).describe('How far the import has come, in its own fields; they may change'),
  retryAfter: instant.nullable().describe('When a paused import goes on by itself'),
  cause: z
    .enum(PAUSE_CAUSES)
    .nullable()
    .describe(
      'What it waits for: limit (a window is spent), yield (room for live calls), reserve (the day’s part for live calls), closed (the vendor said "too many"), budget (the budget service), vendor (it does not answer), inactive (it has switched the application off), push (it is sending), fault (of Paceline)',
    ),
  limitedBy: z
    .object({ pool: z.string(), window: z.string() })
    .nullable()
    .describe('The pool and the window that have no room, where the budget refused'),
  eta: instant.nullable().describe('When it will probably be done'),
  message: z.string(),
  error: z.string().nullable(),
  problems: z.array(z.object({ externalId: z.string(), reason: z.string() })).describe('What could not be imported, and why'),
})

const config = { audience: 'athlete' } as const
const tags = ['athlete']

export function importRoutes(app: App, { imports }: HttpParts): void {
  const start = {
    summary:
      'Start an import from a vendor; gives the running one if it serves: a full one is not answered by a poll, it comes after it',
    tags,
    body: z.object({
      vendor: z.enum(vendorNames),
      type: z.enum(IMPORT_TYPES),
      restart: z.boolean().optional().describe('Start from the beginning, not where a failed import stopped'),
    }),
    response: { 200: importAnswer, 202: importAnswer, 400: errorAnswer, 409: errorAnswer },
  }
  app.post('/v1/imports', { config, schema: start }, async (request, reply) => {
    const { vendor, type, restart = false } = request.body
    const started = await imports.start(request.athleteId, vendor, { type, restart })
    if ('job' in started)
      return await reply.status(started.outcome === 'new' ? 202 : 200).send(answer(await imports.view(started.job)))
    throw refusal(started.outcome, vendor)
  })

  const list = {
    summary: 'My imports, newest first',
    tags,
    querystring: pageAsked,
    response: { 200: listOf(importAnswer), 400: errorAnswer },
  }
  app.get('/v1/imports', { config, schema: list }, async request => {
    const { cursor, limit } = request.query
    return pageOf((await imports.list(request.athleteId, { after: cursor, limit: limit + 1 })).map(answer), limit)
  })

  const one = { summary: 'One of my imports', tags, params: idInPath, response: { 200: importAnswer, 404: errorAnswer } }
  app.get('/v1/imports/:id', { config, schema: one }, async request => {
    const view = await imports.read(request.athleteId, request.params.id)
    if (view === undefined) throw new PacelineError('PACE_NOT_FOUND', 'There is no such import.')
    return answer(view)
  })
}

/** Imports for the live feed. */
export const liveImports = ({ imports }: Pick<HttpParts, 'imports'>): LiveKind => ({
  kind: 'import',
  underWay: athleteId => imports.underWay(athleteId),
  read: async (athleteId, id) => {
    const view = await imports.read(athleteId, id)
    if (view === undefined) return undefined
    return { answer: importAnswer.parse(answer(view)), isOver: importLifecycle.states[view.job.status].final === true }
  },
})

function refusal(outcome: 'not_connected' | 'needs_reauth', vendor: VendorName): PacelineError {
  const { title } = vendors[vendor].facts
  if (outcome === 'needs_reauth') return new PacelineError('PACE_NEEDS_REAUTH', `${title} needs a new consent; connect it again.`)
  return new PacelineError('PACE_NOT_CONNECTED', `${title} is not connected.`)
}

const iso = (at: number | undefined): string | null => (at === undefined ? null : new Date(at).toISOString())

const answer = ({ job, progress, retryAt, cause, limitedBy, eta, message, problems }: ImportView) => ({
  id: job.id,
  vendor: job.vendor,
  type: job.type,
  status: job.status,
  progress: { ...progress, total: progress.total ?? null },
  cursor: { ...job.cursor },
  retryAfter: iso(retryAt),
  cause: cause ?? null,
  limitedBy: limitedBy ?? null,
  eta: iso(eta),
  message,
  error: job.error ?? null,
  problems: [...problems],
})
