// Where a vendor sends a person back to. The athlete's own browser, or the operator's, is done; any other is asked whether the account shall
// go to that athlete. The answer must come from the browser that was asked: by the token in its form and the cookie beside it.
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { PacelineError } from '../../kernel/errors.ts'
import { vendorNames, vendors, type VendorName } from '../../vendors/vendors.ts'
import { PENDING_MS, type Identity } from '../../accounts/accounts.ts'
import { errorAnswer } from '../answers.ts'
import type { App, HttpParts } from '../app.ts'
import { consentPage } from '../consent-page.ts'
import { onErrorBeforePeople } from '../failures.ts'
import { askerOf } from '../identity.ts'
import { guessable } from '../protection.ts'

const CONSENT_COOKIE = 'paceline_consent'
const FORM_BYTES = 4 * 1024
const ENDED = 'This question was answered before, or its ten minutes are over. To connect the account, begin again.'

const tags = ['athlete']
const params = z.object({ vendor: z.enum(vendorNames) })
const word = z.string().max(2_000).optional()
const pathOf = (vendor: VendorName): string => `/oauth/${vendor}/callback`

export function consentRoutes(app: App, parts: HttpParts): void {
  callbackRoute(app, parts)
  // A scope of its own: nothing else here takes a form.
  app.register((scope: App, _, done) => {
    scope.removeAllContentTypeParsers()
    const form = { parseAs: 'string', bodyLimit: FORM_BYTES } as const
    scope.addContentTypeParser<string>('application/x-www-form-urlencoded', form, (_request, body, parsed) => {
      parsed(null, Object.fromEntries(new URLSearchParams(body)))
    })
    answerRoute(scope, parts)
    done()
  })
}

const isTheirs =
  (asker: Identity | undefined) =>
  (athleteId: string): boolean =>
    asker?.kind === 'operator' || (asker?.kind === 'athlete' && asker.athleteId === athleteId)

function callbackRoute(app: App, { accounts, connections: { consents }, secure }: HttpParts): void {
  const schema = {
    summary: 'Where a vendor sends the athlete back to',
    tags,
    params,
    querystring: z.object({ state: word, code: word, scope: word, error: word }),
    response: {
      200: z.string().describe("A page that asks to confirm: the browser is neither the athlete's nor the operator's"),
      302: z.null().describe('To the first page'),
    },
  }
  const config = { audience: 'anyone', ...guessable } as const
  // No HEAD: a look must not use up the state.
  app.get('/oauth/:vendor/callback', { config, schema, exposeHeadRoute: false }, async (request, reply) => {
    const { vendor } = request.params
    const asker = await askerOf(request, accounts)
    const arrived = await consents.arrive(vendor, request.query, isTheirs(asker))
    if (arrived.outcome !== 'question') return await ended(reply, arrived.outcome)
    const path = pathOf(vendor)
    const cookie = { httpOnly: true, sameSite: 'strict', path, secure, maxAge: PENDING_MS / 1000 } as const
    return await reply
      .setCookie(CONSENT_COOKIE, arrived.browser, cookie)
      .header('cache-control', 'no-store')
      .type('text/html; charset=utf-8')
      .send(consentPage(arrived, vendors[vendor].facts.title, path))
  })
}

function answerRoute(app: App, { connections: { consents }, secure }: HttpParts): void {
  const schema = {
    summary: 'Confirm or cancel a consent',
    description: 'What the form of the page sends; it works in the browser that was asked, once, within ten minutes.',
    tags,
    params,
    consumes: ['application/x-www-form-urlencoded'],
    body: z.object({ decision: z.enum(['confirm', 'cancel']), token: z.string().max(100) }),
    response: { 302: z.null().describe('To the first page'), 400: errorAnswer, 410: errorAnswer },
  }
  // Also where somebody is signed in: the form cannot send our header, and its token does the same.
  const config = { audience: 'anyone', foreign: true, ...guessable } as const
  const options = { config, schema, bodyLimit: FORM_BYTES, errorHandler: onErrorBeforePeople }
  app.post('/oauth/:vendor/callback', options, async (request, reply) => {
    const { vendor } = request.params
    const { decision, token } = request.body
    const answering = { token, browser: request.cookies[CONSENT_COOKIE] ?? '' }
    const outcome = decision === 'confirm' ? (await consents.confirm(vendor, answering)).outcome : undefined
    if (outcome === 'expired' || (outcome === undefined && !(await consents.cancel(vendor, answering))))
      throw new PacelineError('PACE_CONSENT_ENDED', ENDED)
    reply.clearCookie(CONSENT_COOKIE, { httpOnly: true, sameSite: 'strict', path: pathOf(vendor), secure })
    return await ended(reply, outcome ?? 'denied')
  })
}

const ended = async (reply: FastifyReply, outcome: string): Promise<FastifyReply> =>
  await reply.redirect(outcome === 'connected' ? '/' : `/?error=${outcome}`, 302)
