// Where vendors send what is new. Answered after it was stored; a proof that fails stores nothing. What can be refused by vendor, headers or
// length is refused before the body is read: anybody may send here.
import assert from 'node:assert/strict'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Refused } from '../../inbox/inbox.ts'
import { PacelineError } from '../../kernel/errors.ts'
import { vendors } from '../../vendors/vendors.ts'
import { errorAnswer } from '../answers.ts'
import type { App, HttpParts } from '../app.ts'
import { LargeBodies } from '../large-bodies.ts'

export function webhookRoutes(app: App, { clock, inbox }: HttpParts): void {
  const { webhook } = vendors.garmin.facts
  assert(webhook, 'Garmin sends webhooks')
  const bodyLimit = webhook.bodyLimitBytes
  const large = new LargeBodies(clock)
  // A scope of its own without a parser: a proof covers the bytes as they came.
  app.register((scope: App, _, done) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit }, (_request, body, parsed) => {
      parsed(null, body)
    })
    const onRequest = (request: FastifyRequest, reply: FastifyReply, passed: (error?: Error) => void): void => {
      const refused = inbox.refuses('garmin', singleHeaders(request.headers))
      passed(refused ? refusal(refused) : large.refuses(request, reply, bodyLimit))
    }
    const answers = { 400: errorAnswer, 401: errorAnswer, 404: errorAnswer, 413: errorAnswer, 503: errorAnswer }
    const schema = { summary: 'Takes what Garmin pushes', tags: ['webhooks'], response: { 200: z.object({}), ...answers } }
    const options = { config: { audience: 'anyone', foreign: true }, bodyLimit, schema, onRequest } as const
    scope.post('/webhooks/garmin', options, async request => {
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const delivery = { headers: singleHeaders(request.headers), body }
      const received = await large.storing(request, () => inbox.receive('garmin', delivery))
      if (received.outcome !== 'stored') throw refusal(received)
      return {}
    })
    done()
  })
}

function refusal(refused: Refused): PacelineError {
  if (refused.outcome === 'unknown_vendor')
    return new PacelineError('PACE_VENDOR_UNKNOWN', 'The operator gave no credentials for Garmin.')
  if (refused.outcome === 'refused')
    return new PacelineError('PACE_UNAUTHORISED', `The webhook's sender cannot be verified: ${refused.reason}.`)
  return new PacelineError('PACE_BAD_REQUEST', `The webhook cannot be read: ${refused.reason}.`)
}

const singleHeaders = (headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]))
