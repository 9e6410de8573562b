// What the operator does: athletes, their tokens and sign-in links, the system check.
import { z } from 'zod'
import { PacelineError } from '../../kernel/errors.ts'
import { isTimeZone } from '../../kernel/time-zone.ts'
import { errorAnswer, id, idInPath, instant, listOf, pageAsked, pageOf, text } from '../answers.ts'
import type { App, HttpParts } from '../app.ts'

const athlete = z.object({ id, name: z.string(), timezone: z.string().nullable() })
const link = z.object({ url: z.url() })
const asked = z.object({
  name: text(200),
  timezone: z.string().refine(isTimeZone, 'Not a time zone; use a name such as Europe/Berlin').optional(),
})
const finding = z.object({
  check: z.string(),
  level: z.enum(['ok', 'warning', 'error']),
  sentence: z.string(),
  todo: z.string().optional(),
})

const config = { audience: 'operator' } as const
const tags = ['admin']
const noAthlete = (): PacelineError => new PacelineError('PACE_NOT_FOUND', 'There is no such athlete.')

export function adminRoutes(app: App, parts: HttpParts): void {
  athleteRoutes(app, parts)
  accessRoutes(app, parts)
  const schema = { tags, summary: 'The system check', response: { 200: z.object({ items: z.array(finding) }) } }
  app.get('/admin/doctor', { config, schema }, async () => ({ items: [...(await parts.doctor())] }))
  workerRoutes(app, parts)
}

function workerRoutes(app: App, { work }: HttpParts): void {
  const worker = z.object({ id, startedAt: instant, seenAt: instant })
  const schema = { tags, summary: 'The processes that serve imports and streams', response: { 200: listOf(worker) } }
  app.get('/admin/workers', { config, schema }, async () => ({
    items: (await work.workers()).map(({ id, startedAt, seenAt }) => ({
      id,
      startedAt: startedAt.toISOString(),
      seenAt: seenAt.toISOString(),
    })),
    nextCursor: null,
  }))
}

function athleteRoutes(app: App, { accounts }: HttpParts): void {
  const create = { tags, summary: 'Create an athlete', body: asked, response: { 201: athlete, 400: errorAnswer } }
  app.post('/admin/athletes', { config, schema: create }, async (request, reply) => {
    const { name, timezone } = request.body
    return await reply.code(201).send(await accounts.createAthlete({ name, timezone: timezone ?? null }))
  })

  const list = { tags, summary: 'Athletes', querystring: pageAsked, response: { 200: listOf(athlete), 400: errorAnswer } }
  app.get('/admin/athletes', { config, schema: list }, async request => {
    const { cursor, limit } = request.query
    return pageOf(await accounts.athletes({ after: cursor, limit: limit + 1 }), limit)
  })
}

function accessRoutes(app: App, { accounts, publicUrl }: HttpParts): void {
  const linkTo = (token: string): { url: string } => ({ url: `${publicUrl()}/sign-in?token=${token}` })

  const created = z.object({ id, token: z.string().describe('Shown only here') })
  const createToken = {
    tags,
    summary: 'Create an API token for an athlete',
    params: idInPath,
    response: { 201: created, 404: errorAnswer },
  }
  app.post('/admin/athletes/:id/tokens', { config, schema: createToken }, async (request, reply) => {
    const made = await accounts.createToken(request.params.id)
    if (made === undefined) throw noAthlete()
    return await reply.code(201).send(made)
  })

  const athleteLink = {
    tags,
    summary: 'A sign-in link for an athlete',
    params: idInPath,
    response: { 201: link, 404: errorAnswer },
  }
  app.post('/admin/athletes/:id/sign-in-link', { config, schema: athleteLink }, async (request, reply) => {
    const token = await accounts.createSignInLink(request.params.id)
    if (token === undefined) throw noAthlete()
    return await reply.code(201).send(linkTo(token))
  })

  const operatorLink = { tags, summary: 'A sign-in link for the operator', response: { 201: link } }
  app.post('/admin/sign-in-link', { config, schema: operatorLink }, async (_, reply) => {
    const token = await accounts.createSignInLink(null)
    if (token === undefined) throw new Error("the operator's link was not created")
    return await reply.code(201).send(linkTo(token))
  })
}
