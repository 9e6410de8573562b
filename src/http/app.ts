// Builds the HTTP application out of the rooms' doors: one place where the plugins, the failures, the guards and the routes
// meet. It holds no rule of its own and does not listen; http.ts does.
import swagger from '@fastify/swagger'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type RawServerDefault } from 'fastify'
import {
  jsonSchemaTransform,
  jsonSchemaTransformObject,
  serializerCompiler,
  validatorCompiler,
  type ZodTypeProvider,
} from 'fastify-type-provider-zod'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../kernel/clock.ts'
import type { NewId } from '../kernel/ids.ts'
import { tell } from '../kernel/channels.ts'
import { PacelineError } from '../kernel/errors.ts'
import type { Accounts } from '../accounts/accounts.ts'
import { onError, onNotFound, routeOf } from './failures.ts'
import { guardRoutes } from './identity.ts'
import { protect } from './protection.ts'
import { adminRoutes } from './routes/admin.ts'
import { documentRoutes } from './routes/documents.ts'
import { healthRoutes } from './routes/health.ts'
import { signInRoutes } from './routes/sign-in.ts'
import { tokenRoutes } from './routes/tokens.ts'

export type App = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse, FastifyBaseLogger, ZodTypeProvider>

/** A part that Paceline needs: `check` rejects, with a sentence, when it is not there. */
export interface Part {
  readonly name: string
  readonly check: () => Promise<void>
}

export interface Finding {
  readonly check: string
  readonly level: 'ok' | 'warning' | 'error'
  readonly sentence: string
  /** What to do about it. */
  readonly todo?: string | undefined
}

export interface HttpParts {
  readonly version: string
  readonly demo: boolean
  /** The public URL is https: cookies and headers insist on it. */
  readonly secure: boolean
  readonly clock: Clock
  readonly newId: NewId
  readonly accounts: Accounts
  readonly parts: readonly Part[]
  readonly publicUrl: () => string
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>
  readonly doctor: () => Promise<readonly Finding[]>
}

const BODY_LIMIT_BYTES = 64 * 1024

export async function buildApp(parts: HttpParts): Promise<App> {
  const app: App = Fastify({
    bodyLimit: BODY_LIMIT_BYTES,
    genReqId: parts.newId,
    requestIdHeader: false,
    // A proxy on this machine may say for whom it asks; anyone else's X-Forwarded-For is ignored.
    trustProxy: 'loopback',
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: true },
  }).withTypeProvider<ZodTypeProvider>()
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  app.setErrorHandler(onError)
  app.setNotFoundHandler(onNotFound)
  tellRequests(app)
  refuseWhenStopping(app)
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.1',
      info: {
        title: 'Paceline',
        version: parts.version,
        description: "Brings athletes' data in from vendors that ration their APIs.",
      },
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
    },
    transform: jsonSchemaTransform,
    transformObject: jsonSchemaTransformObject,
  })
  const countFailure = await protect(app, parts.secure)
  guardRoutes(app, parts.accounts, countFailure)
  for (const routes of [healthRoutes, signInRoutes, documentRoutes, tokenRoutes, adminRoutes]) routes(app, parts)
  return app
}

function tellRequests(app: App): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { id, method } = request
    // Elapsed time is Fastify's own, in real milliseconds: it does not shrink with the clock.
    tell('paceline:request', { id, method, route: routeOf(request), status: reply.statusCode, durationMs: reply.elapsedTime })
    done()
  })
}

// Connections that clients keep open would carry new requests into a server that is stopping, for ever.
function refuseWhenStopping(app: App): void {
  let stopping = false
  app.addHook('preClose', done => {
    stopping = true
    done()
  })
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    if (stopping) reply.header('connection', 'close')
    done(stopping ? new PacelineError('PACE_STOPPING', 'Paceline is stopping; try again in a moment.') : undefined)
  })
}
