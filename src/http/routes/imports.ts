// The athlete's imports: asking for one, and how it goes.
import { z } from 'zod'
import { PacelineError } from '../../kernel/errors.ts'
import { importLifecycle, importStatuses, type ImportView } from '../../imports/imports.ts'
import { vendorNames, vendors, type VendorName } from '../../vendors/vendors.ts'
import { errorAnswer, id, idInPath, listOf, pageAsked, pageOf } from '../answers.ts'
import type { App, HttpParts } from '../app.ts'
import type { LiveKind } from '../feed.ts'

const instant = z.iso.datetime()
const count = z.number().int()

const importAnswer = z.object({
  id,
  vendor: z.enum(vendorNames),
  type: z.enum(['full', 'incremental']),
  status: z.enum(importStatuses),
  progress: z.object({
    listed: count.describe('Activities, nights or check-ins that are here to see'),
    detailed: count.describe('Those with their details'),
    photos: count.describe('Activities whose photos were fetched'),
    total: count.nullable().describe('How many there will be; null until it is known'),
  }),
  cursor: z.record(z.string(), z.unknown()).describe('Where it stands; for the curious'),
  retryAfter: instant.nullable().describe('When it goes on by itself'),
  eta: instant.nullable().describe('When it will be done, if all goes on as now'),
  message: z.string(),
  error: z.string().nullable(),
  problems: z.array(z.object({ externalId: z.string(), reason: z.string() })).describe('Activities that could not be had'),
})

const config = { audience: 'athlete' } as const
const tags = ['athlete']

export function importRoutes(app: App, { imports }: HttpParts): void {
  const start = {
    summary: 'Import from a vendor; the one that runs, if one does',
    tags,
    body: z.object({
      vendor: z.enum(vendorNames),
      type: z.enum(['full', 'incremental']),
      restart: z.boolean().optional().describe('Begin anew instead of going on where the last one stopped'),
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

  const one = { summary: 'How an import goes', tags, params: idInPath, response: { 200: importAnswer, 404: errorAnswer } }
  app.get('/v1/imports/:id', { config, schema: one }, async request => {
    const view = await imports.read(request.athleteId, request.params.id)
    if (view === undefined) throw new PacelineError('PACE_NOT_FOUND', 'There is no such import.')
    return answer(view)
  })
}

/** Imports as they are told while they go on. */
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

const answer = ({ job, progress, eta, message, problems }: ImportView) => ({
  id: job.id,
  vendor: job.vendor,
  type: job.type,
  status: job.status,
  progress: { ...progress, total: progress.total ?? null },
  cursor: { ...job.cursor },
  retryAfter: iso(job.retryAfter?.getTime()),
  eta: iso(eta),
  message,
  error: job.error ?? null,
  problems: [...problems],
})
