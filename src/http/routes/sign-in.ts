// Exchanges a sign-in link for a cookie, once. A person opens the link, so a browser gets errors as a page.
import { z } from 'zod'
import { PacelineError } from '../../kernel/errors.ts'
import { SESSION_MS } from '../../accounts/accounts.ts'
import { errorAnswer } from '../answers.ts'
import type { App, HttpParts } from '../app.ts'
import { onErrorBeforePeople } from '../failures.ts'
import { SESSION_COOKIE } from '../identity.ts'
import { guessable } from '../protection.ts'

const SPENT = 'This sign-in link was used before or has expired. Run `paceline sign-in` for a new one, or ask the operator.'

export function signInRoutes(app: App, { accounts, secure }: HttpParts): void {
  const cookie = { httpOnly: true, sameSite: 'lax', path: '/', secure } as const
  const query = z.object({ token: z.string().min(1).max(200).describe('The token of the link; it works once, within 24 hours') })
  const schema = {
    summary: 'Sign in with a link',
    tags: ['operation'],
    querystring: query,
    response: {
      302: z.null().describe('Signed in: sets a cookie and redirects to the first page'),
      401: errorAnswer,
      429: errorAnswer,
    },
  }
  const config = { audience: 'anyone', ...guessable } as const
  // No HEAD: the preview of a link must not use it up.
  const options = { config, schema, exposeHeadRoute: false, errorHandler: onErrorBeforePeople }
  app.get('/sign-in', options, async (request, reply) => {
    const session = await accounts.signIn(request.query.token)
    if (session === undefined) throw new PacelineError('PACE_UNAUTHORISED', SPENT)
    reply.setCookie(SESSION_COOKIE, session, { ...cookie, maxAge: SESSION_MS / 1000 })
    return await reply.redirect('/', 302)
  })

  const out = { summary: 'Sign out', tags: ['operation'], response: { 204: z.null(), 403: errorAnswer } }
  app.post('/sign-out', { config: { audience: 'anyone' }, schema: out }, async (request, reply) => {
    const session = request.cookies[SESSION_COOKIE]
    if (session !== undefined) await accounts.signOut(session)
    return await reply.clearCookie(SESSION_COOKIE, cookie).code(204).send(null)
  })
}
