// Where vendors send what is new. Answered after it was stored; a proof that fails stores nothing.
import assert from 'node:assert/strict'
import { z } from 'zod'
import { PacelineError } from '../../kernel/errors.ts'
import { vendors } from '../../vendors/vendors.ts'
import { errorAnswer } from '../answers.ts'
import type { App, HttpParts } from '../app.ts'

export function webhookRoutes(app: App, { inbox }: HttpParts): void {
  const { webhook } = vendors.garmin.facts
  assert(webhook, 'Garmin sends webhooks')
  const bodyLimit = webhook.bodyLimitBytes
  // A scope of its own without a parser: a proof covers the bytes as they came.
  app.register((scope: App, _, done) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit }, (_request, body, parsed) => {
      parsed(null, body)
    })
    const schema = {
      summary: 'Takes what Garmin pushes',
      tags: ['webhooks'],
      response: { 200: z.object({}), 400: errorAnswer, 401: errorAnswer, 404: errorAnswer },
    }
    const options = { config: { audience: 'anyone', foreign: true }, bodyLimit, schema } as const
    scope.post('/webhooks/garmin', options, async request => {
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const received = await inbox.receive('garmin', { headers: singleHeaders(request.headers), body })
      if (received.outcome === 'unknown_vendor')
        throw new PacelineError('PACE_VENDOR_UNKNOWN', 'The operator gave no credentials for Garmin.')
      if (received.outcome === 'refused')
        throw new PacelineError('PACE_UNAUTHORISED', `The webhook's sender cannot be verified: ${received.reason}.`)
      if (received.outcome === 'malformed')
        throw new PacelineError('PACE_BAD_REQUEST', `The webhook cannot be read: ${received.reason}.`)
      return {}
    })
    done()
  })
}

const singleHeaders = (headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]))
