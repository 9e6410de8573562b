// A link becomes a cookie, once. The link is opened by a person, so its failure is a page when a browser asks.
import { z } from 'zod'
import { PacelineError } from '../../kernel/errors.ts'
import { SESSION_MS } from '../../accounts/accounts.ts'
import type { App, HttpParts } from '../app.ts'
import { SESSION_COOKIE } from '../identity.ts'
import { page } from '../pages.ts'
import { guessable } from '../protection.ts'

const SPENT = 'This sign-in link was used before or has expired. `paceline sign-in` prints a new one.'

export function signInRoutes(app: App, { accounts, secure }: HttpParts): void {
  const cookie = { httpOnly: true, sameSite: 'lax', path: '/', secure } as const
  const query = z.object({ token: z.string().min(1).max(200) })
  const schema = { summary: 'Sign in with a link', tags: ['operation'], querystring: query }
  // No HEAD: a previewer that only looks must not use up the link.
  app.get(
    '/sign-in',
    { config: { audience: 'anyone', ...guessable }, schema, exposeHeadRoute: false },
    async (request, reply) => {
      const session = await accounts.signIn(request.query.token)
      if (session === undefined) {
        if (!request.headers.accept?.includes('text/html')) throw new PacelineError('PACE_UNAUTHORISED', SPENT)
        return await reply
          .code(401)
          .type('text/html; charset=utf-8')
          .send(page('Sign in', [`<p>${SPENT}</p>`]))
      }
      reply.setCookie(SESSION_COOKIE, session, { ...cookie, maxAge: SESSION_MS / 1000 })
      return await reply.redirect('/', 302)
    },
  )

  const out = { summary: 'End the session of the cookie', tags: ['operation'], response: { 204: z.null() } }
  app.post('/sign-out', { config: { audience: 'anyone' }, schema: out }, async (request, reply) => {
    const session = request.cookies[SESSION_COOKIE]
    if (session !== undefined) await accounts.signOut(session)
    return await reply.clearCookie(SESSION_COOKIE, cookie).code(204).send(null)
  })
}
