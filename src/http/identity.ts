// Decides who asks and whether the route is for them. Every route names its audience; one that names none stops the start.
// Browsers send cookies unasked, so a request by cookie that changes something must carry X-Paceline: 1.
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
    /** Pages and webhooks of others, served here: they ignore our cookie, and they cannot send our header. */
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
    // Refused before the body is read.
    if (request.is404) throw notFound(request)
    const credentials = credentialsOf(request)
    if (!request.routeOptions.config.foreign) insistOnHeader(request, credentials)
    const audience = request.routeOptions.config.audience
    if (audience === 'anyone') return
    const identity = await identityOf(credentials, accounts)
    if (identity === undefined) {
      // A request without credentials is no guess: a page that was left open must not lock out its address.
      if (credentials !== undefined) await countFailure(request, reply)
      reply.header('www-authenticate', 'Bearer')
      throw new PacelineError('PACE_UNAUTHORISED', 'A valid token is needed: Authorization: Bearer <token>.')
    }
    if (audience === 'athlete') request.athleteId = await athleteFor(request, identity, accounts)
    else if (identity.kind !== audience) throw new PacelineError('PACE_FORBIDDEN', `This route is for the ${audience} token.`)
  })
}

/** Whether the credentials still allow the request: for an answer that lasts for hours. */
export async function isStillAllowed(request: FastifyRequest, accounts: Accounts): Promise<boolean> {
  const identity = await identityOf(credentialsOf(request), accounts)
  if (identity?.kind === 'athlete') return identity.athleteId === request.athleteId
  return identity?.kind === 'operator' && (await accounts.athleteExists(request.athleteId))
}

/** Who asks, on a route for anyone. */
export const askerOf = async (request: FastifyRequest, accounts: Accounts): Promise<Identity | undefined> =>
  await identityOf(credentialsOf(request), accounts)

/** What the OpenAPI document says of every route that needs credentials. */
const guarded = (schema: FastifySchema = {}): FastifySchema => ({
  ...schema,
  security: [{ bearer: [] }, { cookie: [] }],
  response: { 401: errorAnswer, 403: errorAnswer, ...(schema.response as object | undefined) },
})

/** The token that a request carries; undefined where the header is missing or holds none. */
export const bearerOf = ({ authorization = '' }: FastifyRequest['headers']): string | undefined =>
  /^Bearer +(\S+)$/i.exec(authorization)?.[1]

/** What a request shows; the token is undefined where the header holds none. */
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
    throw new PacelineError(
      'PACE_FORBIDDEN',
      'This is a route for athletes: the operator must name one in the header X-Paceline-Athlete.',
    )
  if (!isId(named) || !(await accounts.athleteExists(named)))
    throw new PacelineError('PACE_NOT_FOUND', 'There is no such athlete.')
  return named
}
