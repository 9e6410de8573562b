// Who asks, and whether this route is for them. Every route says which kind it is for; one that does not say it stops the
// start. Cookies are for browsers, which send them unasked: a cookie request that changes something must carry X-Paceline: 1.
import assert from 'node:assert/strict'
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import { isId } from '../kernel/ids.ts'
import { PacelineError } from '../kernel/errors.ts'
import type { Accounts, Identity } from '../accounts/accounts.ts'
import { errorAnswer } from './answers.ts'
import { notFound } from './failures.ts'

export type Audience = 'anyone' | 'athlete' | 'operator' | 'ingest'

declare module 'fastify' {
  interface FastifyContextConfig {
    audience?: Audience
    /** Another site's pages, served here: our cookie means nothing to them, and their forms know no header of ours. */
    foreign?: boolean
  }
  interface FastifyRequest {
    /** Whose data the request is about; set on routes for athletes. */
    athleteId: string
  }
}

export const SESSION_COOKIE = 'paceline_session'
const ATHLETE_HEADER = 'x-paceline-athlete'

/** Called for each failed attempt; throws when the address has had too many. */
export type CountFailure = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

export function guardRoutes(app: FastifyInstance, accounts: Accounts, countFailure: CountFailure): void {
  app.decorateRequest('athleteId', '')
  app.addHook('onRoute', route => {
    assert(route.config?.audience, `${String(route.method)} ${route.url} does not say whom it is for`)
    if (route.config.audience !== 'anyone') route.schema = guarded(route.schema)
  })
  app.addHook('onRequest', async (request, reply) => {
    // Before its body is read: what it would have held does not matter.
    if (request.is404) throw notFound(request)
    const credentials = credentialsOf(request)
    if (!request.routeOptions.config.foreign) insistOnHeader(request, credentials)
    const audience = request.routeOptions.config.audience
    if (audience === 'anyone') return
    const identity = await identityOf(credentials, accounts)
    if (identity === undefined) {
      // Whoever shows nothing guesses nothing: a page that was left open must not lock its address out.
      if (credentials !== undefined) await countFailure(request, reply)
      reply.header('www-authenticate', 'Bearer')
      throw new PacelineError('PACE_UNAUTHORISED', 'A valid token is needed: Authorization: Bearer <token>.')
    }
    if (audience === 'athlete') request.athleteId = await athleteFor(request, identity, accounts)
    else if (identity.kind !== audience) throw new PacelineError('PACE_FORBIDDEN', `This route is for the ${audience} token.`)
  })
}

/** Whether who asked for an athlete's things may still do so: for an answer that goes on for hours. */
export async function isStillAllowed(request: FastifyRequest, accounts: Accounts): Promise<boolean> {
  const identity = await identityOf(credentialsOf(request), accounts)
  if (identity?.kind === 'athlete') return identity.athleteId === request.athleteId
  return identity?.kind === 'operator' && (await accounts.athleteExists(request.athleteId))
}

/** What the document says of every route that is not for anyone. */
const guarded = (schema: FastifySchema = {}): FastifySchema => ({
  ...schema,
  security: [{ bearer: [] }, { cookie: [] }],
  response: { 401: errorAnswer, 403: errorAnswer, ...(schema.response as object | undefined) },
})

/** The token that a request carries; undefined where the header is missing or holds none. */
export const bearerOf = ({ authorization = '' }: FastifyRequest['headers']): string | undefined =>
  /^Bearer +(\S+)$/i.exec(authorization)?.[1]

/** What a request shows of itself; an undefined token is a header that holds none. */
type Credentials = { readonly token: string | undefined } | { readonly session: string }

function credentialsOf({ headers, cookies }: FastifyRequest): Credentials | undefined {
  if (headers.authorization !== undefined) return { token: bearerOf(headers) }
  const session = cookies[SESSION_COOKIE]
  return session === undefined ? undefined : { session }
}

function insistOnHeader({ method, headers }: FastifyRequest, credentials: Credentials | undefined): void {
  if (credentials === undefined || 'token' in credentials) return
  if (method === 'GET' || method === 'HEAD' || headers['x-paceline'] === '1') return
  throw new PacelineError(
    'PACE_MISSING_HEADER',
    'A request by cookie that changes something must carry the header X-Paceline: 1.',
  )
}

async function identityOf(credentials: Credentials | undefined, accounts: Accounts): Promise<Identity | undefined> {
  if (credentials === undefined) return undefined
  if ('session' in credentials) return await accounts.identifySession(credentials.session)
  return credentials.token === undefined ? undefined : await accounts.identify(credentials.token)
}

async function athleteFor(request: FastifyRequest, identity: Identity, accounts: Accounts): Promise<string> {
  if (identity.kind === 'athlete') return identity.athleteId
  if (identity.kind === 'ingest') throw new PacelineError('PACE_FORBIDDEN', "This route is for an athlete's token.")
  const named = request.headers[ATHLETE_HEADER]
  if (typeof named !== 'string')
    throw new PacelineError('PACE_FORBIDDEN', 'The operator names the athlete in the header X-Paceline-Athlete.')
  if (!isId(named) || !(await accounts.athleteExists(named)))
    throw new PacelineError('PACE_NOT_FOUND', 'There is no such athlete.')
  return named
}
