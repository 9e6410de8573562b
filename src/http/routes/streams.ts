// An activity's streams and shape for its owner, and what the operator sees and resets. The streams' answer keeps the document's names.
import { z } from 'zod'
import { streamStatuses } from '../../activities/activities.ts'
import { PacelineError } from '../../kernel/errors.ts'
import { REASONS, type StreamsAnswer } from '../../streams/streams.ts'
import { GATE_CAUSES } from '../../work/work.ts'
import { count, errorAnswer, id, idInPath, instant, text } from '../answers.ts'
import type { App, HttpParts } from '../app.ts'
import { sendJson } from '../compressed.ts'
import type { LiveKind } from '../feed.ts'
import { windowState } from './quota.ts'

const LONGEST_WAIT_MS = 30_000
const athletes = { config: { audience: 'athlete' }, tags: ['athlete'] } as const
const operators = { config: { audience: 'operator' }, tags: ['admin'] } as const
const status = z.enum(streamStatuses)
const noActivity = (): PacelineError => new PacelineError('PACE_NOT_FOUND', 'There is no such activity.')

const streamsAnswer = z.object({
  activity_id: id,
  status,
  stream_data: z.record(z.string(), z.array(z.unknown())).nullable().describe('Channel → samples, all as long as `time`'),
  channels_available: z.array(z.string()),
  point_count: count.nullable(),
  source: z.string().nullable(),
  fetched_at: instant.nullable(),
  reason: z.enum(REASONS).optional().describe('Why there are no streams, or not yet'),
  retry_at: instant.optional().describe('When Paceline tries again by itself'),
  cause: z.enum(GATE_CAUSES).optional().describe('What it waits for until then'),
})

export function streamRoutes(app: App, parts: HttpParts): void {
  readRoutes(app, parts)
  ownerRoutes(app, parts)
  operatorRoutes(app, parts)
  resetRoutes(app, parts)
}

/** Made of the fetch date alone, so that unchanged streams are not read again. Weak, because they may be sent compressed or not. */
const etagOf = (fetchedAt: Date): string => `W/"${fetchedAt.getTime().toString(36)}"`

/** Everything but the samples, then the samples as they are stored, unparsed. */
function written({ stream_data, ...rest }: StreamsAnswer): string {
  return `${JSON.stringify(rest).slice(0, -1)},"stream_data":${stream_data ?? 'null'}}`
}

function readRoutes(app: App, { streams }: HttpParts): void {
  const { config, tags } = athletes
  const read = {
    summary: 'The streams of one of my activities; missing ones are fetched at once',
    tags,
    params: idInPath,
    querystring: z.object({
      wait: z.coerce
        .number()
        .int()
        .min(0)
        .max(LONGEST_WAIT_MS)
        .default(0)
        .describe('How many milliseconds to wait for streams that are being fetched'),
    }),
    response: { 200: streamsAnswer, 304: z.null(), 400: errorAnswer, 404: errorAnswer },
  }
  app.get('/v1/activities/:id/streams', { config, schema: read }, async (request, reply) => {
    const known = request.headers['if-none-match']
    const fetchedAt = known === undefined ? undefined : await streams.fetchedAt(request.athleteId, request.params.id)
    if (fetchedAt !== undefined && matches(known, etagOf(fetchedAt)))
      return await reply.header('etag', etagOf(fetchedAt)).code(304).serializer(noBody).send(null)
    const found = await streams.fetchOnDemand(request.athleteId, request.params.id, { waitMs: request.query.wait })
    if (found === undefined) throw noActivity()
    if (found.fetched_at !== null) reply.header('etag', etagOf(found.fetched_at))
    reply.header('cache-control', 'private, no-cache')
    return await sendJson(request, reply, written(found))
  })
}

const noBody = (): string => ''

const matches = (known: string | undefined, etag: string): boolean =>
  (known ?? '').split(',').some(each => each.trim() === etag || each.trim() === etag.slice(2) || each.trim() === '*')

function ownerRoutes(app: App, { streams }: HttpParts): void {
  const { config, tags } = athletes
  const retry = {
    summary: 'Fetch failed streams again now, also those that were given up',
    tags,
    params: idInPath,
    response: { 202: z.object({ status }), 404: errorAnswer },
  }
  app.post('/v1/activities/:id/streams/retry', { config, schema: retry }, async (request, reply) => {
    const retried = await streams.retry(request.athleteId, request.params.id)
    if (retried === undefined) throw noActivity()
    return await reply.code(202).send({ status: retried.status })
  })

  const shape = {
    summary: 'The shape of an activity, read from its streams: segments, drift, splits, moments and a sentence',
    tags,
    params: idInPath,
    response: {
      200: z.looseObject({ version: count, sentence: z.string(), confidence: z.number() }),
      404: errorAnswer,
      409: errorAnswer,
    },
  }
  app.get('/v1/activities/:id/shape', { config, schema: shape }, async (request, reply) => {
    const read = await streams.shape(request.athleteId, request.params.id)
    if (read === undefined) throw noActivity()
    // Usually some kilobytes; a thousand miles have a megabyte of splits.
    if (read.outcome === 'shape') return await sendJson(request, reply, JSON.stringify(read.shape))
    throw new PacelineError(
      'PACE_NO_STREAMS',
      `This activity has no streams to read a shape from; their status is ${read.status}.`,
    )
  })
}

const byStatus = z.object(
  Object.fromEntries(streamStatuses.map(each => [each, count])) as Record<(typeof streamStatuses)[number], typeof count>,
)
const overview = z.object({
  status: byStatus,
  retries: z.record(z.string(), count).describe('Failed streams by their number of attempts'),
  rateLimited24h: count.describe('Calls for streams that the vendor answered with 429 in the last 24 hours'),
  window: windowState.nullable().describe("The vendor's current short window"),
  stuck: count.describe('Given up after three failures, until someone resets them'),
  athletes: z.array(byStatus.extend({ athleteId: id })),
})

function operatorRoutes(app: App, { streams }: HttpParts): void {
  const { config, tags } = operators
  const all = { summary: 'Streams by status, retries and quota window', tags, response: { 200: overview } }
  app.get('/admin/streams', { config, schema: all }, async () => {
    const { window, athletes: each, ...rest } = await streams.overview()
    return { ...rest, athletes: [...each], window: window && { ...window, resetAt: new Date(window.resetAt).toISOString() } }
  })

  const backfill = {
    summary: 'Start fetching missing streams now',
    tags,
    body: z.object({ athlete: id.optional() }),
    response: { 202: z.object({ athletes: count.describe('How many athletes have missing streams') }), 400: errorAnswer },
  }
  app.post(
    '/admin/streams/backfill',
    { config, schema: backfill },
    async (request, reply) => await reply.code(202).send({ athletes: await streams.backfill(request.body.athlete) }),
  )
}

function resetRoutes(app: App, { streams }: HttpParts): void {
  const { config, tags } = operators
  const reset = {
    summary: 'Fetch the streams of an activity again',
    tags,
    params: idInPath,
    response: { 200: z.object({ activity_id: id, status }), 404: errorAnswer, 409: errorAnswer },
  }
  app.post('/admin/activities/:id/reset-stream-fetch', { config, schema: reset }, async request => {
    const { outcome } = await streams.reset(request.params.id)
    if (outcome === 'reset') return { activity_id: request.params.id, status: 'pending' as const }
    if (outcome === 'not_found') throw noActivity()
    if (outcome === 'not_fetched')
      throw new PacelineError(
        'PACE_NOT_FETCHED',
        'The vendor sends the streams of this activity by itself; they cannot be fetched again.',
      )
    if (outcome === 'fetching')
      throw new PacelineError('PACE_FETCHING', 'The streams of this activity are being fetched now; try again in a moment.')
    throw new PacelineError('PACE_NO_EXTERNAL_ID', 'This activity was entered by hand, so no vendor has streams of it.')
  })

  const many = {
    summary: 'Fetch failed streams again: all, those of one athlete, or those with a word in their error',
    tags,
    body: z.object({
      athlete: id.optional(),
      error: text(200).optional(),
      stuck: z.boolean().optional().describe('Only streams that were given up'),
    }),
    response: { 200: z.object({ reset: count }), 400: errorAnswer },
  }
  app.post('/admin/streams/reset', { config, schema: many }, async request => ({ reset: await streams.resetMany(request.body) }))
}

/** Streams for the live feed: what their GET answers, without the samples. */
export const liveStreams = ({ streams }: Pick<HttpParts, 'streams'>): LiveKind => ({
  kind: 'stream',
  underWay: athleteId => streams.underWay(athleteId),
  read: async (athleteId, activityId) => {
    const found = await streams.read(athleteId, activityId, { samples: false })
    if (found === undefined) return undefined
    return { answer: streamsAnswer.parse(JSON.parse(written(found))), isOver: found.status !== 'fetching' }
  },
})
