// Who asks, and whether this route is for them. Every route says which kind it is for; one that does not say it stops the
// start. Cookies are for browsers, which send them unasked: a cookie request that changes something must carry X-Paceline: 1.
import assert from 'node:assert/strict'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isId } from '../kernel/ids.ts'
import { PacelineError } from '../kernel/errors.ts'
import type { Accounts, Identity } from '../accounts/accounts.ts'

export type Audience = 'anyone' | 'athlete' | 'operator' | 'ingest'

declare module 'fastify' {
  interface FastifyContextConfig {
    audience?: Audience
  }
  interface FastifyRequest {
    /** Whose data the request is about; set on routes for athletes. */
    athleteId: string
  }
}

export const SESSION_COOKIE = 'paceline_session'
const ATHLETE_HEADER = 'x-paceline-athlete'

/** Called for each failed attempt; throws when the address has had too many. */
export type CountFailure = (request: FastifyRequest) => Promise<void>

export function guardRoutes(app: FastifyInstance, accounts: Accounts, countFailure: CountFailure): void {
  app.decorateRequest('athleteId', '')
  app.addHook('onRoute', route => {
    assert(route.config?.audience, `${String(route.method)} ${route.url} does not say whom it is for`)
  })
  app.addHook('onRequest', async request => {
    const audience = request.routeOptions.config.audience
    // Routes that do not exist have no audience either; they answer 404 to everyone.
    if (audience === undefined || audience === 'anyone') return
    const identity = await identityOf(request, accounts)
    if (identity === undefined) {
      await countFailure(request)
      throw new PacelineError('PACE_UNAUTHORISED', 'A valid token is needed: Authorization: Bearer <token>.')
    }
    if (audience === 'athlete') request.athleteId = await athleteFor(request, identity, accounts)
    else if (identity.kind !== audience) throw new PacelineError('PACE_FORBIDDEN', `This route is for the ${audience} token.`)
  })
}

async function identityOf(request: FastifyRequest, accounts: Accounts): Promise<Identity | undefined> {
  const { authorization } = request.headers
  if (authorization !== undefined) {
    const [, token] = /^Bearer +(\S+)$/i.exec(authorization) ?? []
    return token === undefined ? undefined : await accounts.identify(token)
  }
  const session = request.cookies[SESSION_COOKIE]
  const identity = session === undefined ? undefined : await accounts.identifySession(session)
  if (identity !== undefined && !['GET', 'HEAD'].includes(request.method) && request.headers['x-paceline'] !== '1') {
    throw new PacelineError(
      'PACE_MISSING_HEADER',
      'A request by cookie that changes something must carry the header X-Paceline: 1.',
    )
  }
  return identity
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
