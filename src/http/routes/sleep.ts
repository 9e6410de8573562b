// Nights: what other programs send, and what an athlete reads.
import { z } from 'zod'
import { calendarDay as day, rawSleep } from '../../events/events.ts'
import type { CountingNight } from '../../sleep/sleep.ts'
import { errorAnswer, instant, listOf } from '../answers.ts'
import type { App, HttpParts } from '../app.ts'
import type { LiveKind } from '../feed.ts'

const night = z.object({
  date: z.string().describe('The day on which the athlete woke, YYYY-MM-DD'),
  durationMinutes: z.int(),
  qualityScore: z.int().nullable().describe('0 to 100'),
  vendor: z.string(),
  capturedAt: instant,
})

export function sleepRoutes(app: App, parts: HttpParts): void {
  readRoutes(app, parts)
  ingestRoutes(app, parts)
}

function readRoutes(app: App, { sleep }: HttpParts): void {
  const schema = {
    summary: 'My nights, newest first',
    tags: ['athlete'],
    querystring: z.object({
      from: day.optional().describe('The first day'),
      to: day.optional().describe('The last day'),
      cursor: day.optional().describe('nextCursor of the previous page'),
      limit: z.coerce.number().int().min(1).max(200).default(50).describe('Items per page: 50 by default, at most 200'),
    }),
    response: { 200: listOf(night), 400: errorAnswer },
  }
  app.get('/v1/sleep', { config: { audience: 'athlete' }, schema }, async request => {
    const { from, to, cursor: after, limit } = request.query
    const found = await sleep.list({ userId: request.athleteId, from, to, after, limit: limit + 1 })
    const items = found.slice(0, limit)
    return { items: items.map(shown), nextCursor: found.length > limit ? (items.at(-1)?.date ?? null) : null }
  })
}

const shown = ({ capturedAt, ...rest }: CountingNight): z.infer<typeof night> => ({
  ...rest,
  capturedAt: capturedAt.toISOString(),
})

function ingestRoutes(app: App, { ingestRequests }: HttpParts): void {
  const key = z
    .string()
    .regex(/^[\x21-\x7e]{1,200}$/, 'One to 200 visible characters')
    .optional()
  const schema = {
    summary: 'Take a night that another program measured',
    description:
      'The answer comes when the event bus has the night; it is stored soon after. With an `Idempotency-Key` a repetition within 24 hours gets the first answer and is one night.',
    tags: ['ingest'],
    headers: z.looseObject({ 'idempotency-key': key }),
    body: rawSleep,
    response: {
      200: z.object({ message: z.string(), eventId: z.string() }),
      400: errorAnswer,
      413: errorAnswer,
      422: errorAnswer,
      500: errorAnswer,
    },
  }
  app.post('/api/v1/ingest/sleep', { config: { audience: 'ingest' }, schema }, async request => {
    const eventId = await ingestRequests.ingest(request.body, request.headers['idempotency-key'])
    return { message: 'Sleep data received', eventId }
  })
}

/** Nights for the live feed, each by its date. None is ever under way. */
export const liveNights = ({ sleep }: Pick<HttpParts, 'sleep'>): LiveKind => ({
  kind: 'sleep',
  underWay: async () => [],
  read: async (athleteId, date) => {
    const [found] = await sleep.list({ userId: athleteId, from: date, to: date, limit: 1 })
    return found && { answer: shown(found), isOver: true }
  },
})
