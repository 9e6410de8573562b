// The athlete's own API tokens: to see and to revoke. They are made by the operator (admin routes).
import { z } from 'zod'
import { PacelineError } from '../../kernel/errors.ts'
import { errorAnswer, id, idInPath, instant, listOf, pageAsked, pageOf } from '../answers.ts'
import type { App, HttpParts } from '../app.ts'

export function tokenRoutes(app: App, { accounts }: HttpParts): void {
  const config = { audience: 'athlete' } as const
  const token = z.object({ id, createdAt: instant })

  const list = {
    summary: 'My API tokens',
    tags: ['athlete'],
    querystring: pageAsked,
    response: { 200: listOf(token), 400: errorAnswer },
  }
  app.get('/v1/tokens', { config, schema: list }, async request => {
    const { cursor, limit } = request.query
    const found = await accounts.tokens(request.athleteId, { after: cursor, limit: limit + 1 })
    return pageOf(
      found.map(each => ({ id: each.id, createdAt: each.createdAt.toISOString() })),
      limit,
    )
  })

  const revoke = {
    summary: 'Revoke an API token',
    tags: ['athlete'],
    params: idInPath,
    response: { 204: z.null(), 404: errorAnswer },
  }
  app.delete('/v1/tokens/:id', { config, schema: revoke }, async (request, reply) => {
    const revoked = await accounts.revokeToken(request.athleteId, request.params.id)
    if (!revoked) throw new PacelineError('PACE_NOT_FOUND', 'There is no such token.')
    return await reply.code(204).send(null)
  })
}
