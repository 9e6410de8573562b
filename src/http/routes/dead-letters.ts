// What no consumer could handle, for the operator: looked at, and published again.
import { z } from 'zod'
import type { DeadLetter } from '../../events/events.ts'
import { PacelineError } from '../../kernel/errors.ts'
import { count, errorAnswer, id, idInPath, instant, listOf, pageAsked, pageOf, text } from '../answers.ts'
import type { App, HttpParts } from '../app.ts'

const letter = z.object({
  id,
  subject: z.string(),
  originalSubject: z.string().nullable(),
  reason: z.string(),
  error: z.string().describe('What was wrong; it names fields, never values'),
  attempt: count.describe('Deliveries until then'),
  firstAt: instant.describe('When the message was published'),
  lastAt: instant.describe('When it became a dead letter'),
  payload: z.string().nullable().describe('The original bytes; in the list null where they are more than 16 kB'),
  payloadEncoding: z.enum(['utf8', 'base64']),
  replays: count,
  replayedAt: instant.nullable(),
  action: z.string().nullable().describe('What to do about it'),
})

const config = { audience: 'operator' } as const
const tags = ['admin']
const noLetter = (): PacelineError => new PacelineError('PACE_NOT_FOUND', 'There is no such dead letter.')

const shown = ({ firstAt, lastAt, replayedAt, ...rest }: DeadLetter): z.infer<typeof letter> => ({
  ...rest,
  firstAt: firstAt.toISOString(),
  lastAt: lastAt.toISOString(),
  replayedAt: replayedAt?.toISOString() ?? null,
})

export function deadLetterRoutes(app: App, parts: HttpParts): void {
  readRoutes(app, parts)
  replayRoutes(app, parts)
}

function readRoutes(app: App, { deadLetters }: HttpParts): void {
  const list = {
    tags,
    summary: 'Messages that no consumer could handle, newest first',
    querystring: pageAsked.extend({ subject: text(300).optional().describe("The letters' subject, or the original one") }),
    response: { 200: listOf(letter), 400: errorAnswer },
  }
  app.get('/admin/dead-letters', { config, schema: list }, async request => {
    const { cursor: after, limit, subject } = request.query
    return pageOf((await deadLetters.list({ subject, after, limit: limit + 1 })).map(shown), limit)
  })

  const one = { tags, summary: 'A dead letter', params: idInPath, response: { 200: letter, 404: errorAnswer } }
  app.get('/admin/dead-letters/:id', { config, schema: one }, async request => {
    const found = await deadLetters.read(request.params.id)
    if (found === undefined) throw noLetter()
    return shown(found)
  })
}

function replayRoutes(app: App, { deadLetters }: HttpParts): void {
  const replayed = z.object({ replayed: count.describe('How many were published again') })
  const answers = { 202: replayed, 409: errorAnswer, 500: errorAnswer }
  const one = {
    tags,
    summary: 'Publish the original bytes again',
    params: idInPath,
    response: { ...answers, 404: errorAnswer },
  }
  app.post('/admin/dead-letters/:id/replay', { config, schema: one }, async (request, reply) => {
    if (!(await deadLetters.replay(request.params.id))) throw noLetter()
    return await reply.code(202).send({ replayed: 1 })
  })

  const many = {
    tags,
    summary: 'Publish all of a subject again that were not yet',
    body: z.object({ subject: text(300).describe("The letters' subject, or the original one") }),
    response: { ...answers, 400: errorAnswer },
  }
  app.post(
    '/admin/dead-letters/replay',
    { config, schema: many },
    async (request, reply) => await reply.code(202).send({ replayed: await deadLetters.replayAll(request.body.subject) }),
  )
}
