// Headers and limits that every answer passes. Nothing here may break plain http on a home network: https is only insisted on
// where the public URL is https. Address limits cover guessing (sign-in, failed authentication), never ordinary use.
import cookie from '@fastify/cookie'
import helmet from '@fastify/helmet'
import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance } from 'fastify'
import { PacelineError } from '../kernel/errors.ts'
import type { CountFailure } from './identity.ts'

const GUESSES = { max: 30, timeWindow: 60_000 }

const tooMany = (waitMs: number): PacelineError =>
  new PacelineError(
    'PACE_TOO_MANY_REQUESTS',
    `Too many attempts from this address; try again in ${Math.ceil(waitMs / 1000)} seconds.`,
  )

/** Returns the function that counts a failed authentication against its address. */
export async function protect(app: FastifyInstance, secure: boolean): Promise<CountFailure> {
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'self'"],
        baseUri: ["'none'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
        imgSrc: ["'self'", 'data:'],
        objectSrc: ["'none'"],
        ...(secure && { upgradeInsecureRequests: [] }),
      },
    },
    strictTransportSecurity: secure && { maxAge: 15_552_000 },
    xFrameOptions: { action: 'deny' },
    // Without https these have no effect and browsers warn in the console.
    crossOriginOpenerPolicy: secure,
    originAgentCluster: secure,
  })
  await app.register(cookie)
  await app.register(rateLimit, { global: false, errorResponseBuilder: (_, { ttl }) => tooMany(ttl) })
  const count = app.createRateLimit(GUESSES)
  return async (request, reply) => {
    const counted = await count(request)
    if (counted.isAllowed || !counted.isExceeded) return
    reply.header('retry-after', counted.ttlInSeconds)
    throw tooMany(counted.ttl)
  }
}

/** For routes on which a secret can be guessed. */
export const guessable = { rateLimit: GUESSES }
