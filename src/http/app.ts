// Builds the HTTP application out of the rooms' doors: one place where the plugins, the failures, the guards and the routes
// meet. It holds no rule of its own and does not listen; http.ts does.
import swagger from '@fastify/swagger'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type RawServerDefault,
} from 'fastify'
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../kernel/clock.ts'
import type { NewId } from '../kernel/ids.ts'
import { tell } from '../kernel/channels.ts'
import type { Accounts, Connections, Erasure } from '../accounts/accounts.ts'
import type { Activities } from '../activities/activities.ts'
import type { Database } from '../db/db.ts'
import type { DeadLetters } from '../events/events.ts'
import type { Imports } from '../imports/imports.ts'
import type { Inbox } from '../inbox/inbox.ts'
import type { Quota } from '../quota/quota.ts'
import type { IngestRequests, SleepStore } from '../sleep/sleep.ts'
import type { Streams } from '../streams/streams.ts'
import type { VendorName } from '../vendors/vendors.ts'
import type { Work } from '../work/work.ts'
import { apiDocument } from './api-document.ts'
import { connectionLimits, endConnections, onClientError } from './connections.ts'
import type { LiveTimes } from './feed.ts'
import { notFound, onError, onNotFound, routeOf } from './failures.ts'
import { guardRoutes } from './identity.ts'
import { protect } from './protection.ts'
import { activityRoutes } from './routes/activities.ts'
import { adminRoutes } from './routes/admin.ts'
import { connectionRoutes } from './routes/connections.ts'
import { consentRoutes } from './routes/consents.ts'
import { deadLetterRoutes } from './routes/dead-letters.ts'
import { documentRoutes } from './routes/documents.ts'
import { EVENT_STREAM, eventRoutes } from './routes/events.ts'
import { healthRoutes } from './routes/health.ts'
import { importRoutes } from './routes/imports.ts'
import { quotaRoutes } from './routes/quota.ts'
import { signInRoutes } from './routes/sign-in.ts'
import { sleepRoutes } from './routes/sleep.ts'
import { streamRoutes } from './routes/streams.ts'
import type { Part } from './part.ts'
import { simulatedRoutes, type Simulated } from './routes/simulated.ts'
import { tokenRoutes } from './routes/tokens.ts'
import { webhookRoutes } from './routes/webhooks.ts'
import { traceRequests } from './spans.ts'

export type App = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse, FastifyBaseLogger, ZodTypeProvider>

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
  /** The public URL is https, so cookies and headers demand it. */
  readonly secure: boolean
  readonly clock: Clock
  readonly newId: NewId
  readonly accounts: Accounts
  readonly connections: Connections
  readonly erasure: Erasure
  readonly activities: Activities
  readonly imports: Pick<Imports, 'start' | 'list' | 'read' | 'view' | 'underWay' | 'refreshed'>
  readonly inbox: Pick<Inbox, 'receive' | 'refuses'>
  readonly streams: Pick<
    Streams,
    'read' | 'fetchOnDemand' | 'retry' | 'reset' | 'resetMany' | 'overview' | 'shape' | 'underWay' | 'backfill' | 'fetchedAt'
  >
  readonly ingestRequests: Pick<IngestRequests, 'ingest'>
  readonly sleep: Pick<SleepStore, 'list'>
  readonly deadLetters: Pick<DeadLetters, 'list' | 'read' | 'replay' | 'replayAll'>
  readonly quota: Pick<Quota, 'vendorState' | 'usage'>
  readonly work: Pick<Work, 'workers'>
  /** Where changes announce themselves. */
  readonly database: Pick<Database, 'listen'>
  /** For tests that do not wait. */
  readonly liveTimes?: Partial<LiveTimes>
  /** The vendors that can be connected: those with credentials, or the demo's. */
  readonly vendors: () => readonly VendorName[]
  readonly parts: readonly Part[]
  /** The vendors of the demo. */
  readonly simulated?: Simulated | undefined
  readonly publicUrl: () => string
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>
  readonly doctor: () => Promise<readonly Finding[]>
}

const BODY_LIMIT_BYTES = 64 * 1024

export async function buildApp(parts: HttpParts): Promise<App> {
  const app = bareApp(parts)
  await app.register(swagger, apiDocument(parts.version))
  const countFailure = await protect(app, parts.secure)
  guardRoutes(app, parts.accounts, countFailure)
  for (const routes of ALL_ROUTES) routes(app, parts)
  return app
}

export type HealthParts = Pick<HttpParts, 'version' | 'demo' | 'clock' | 'newId' | 'parts' | 'metrics'>

/** What a process without the role `api` answers, on a port of its own: health and metrics. */
export function buildHealthApp(parts: HealthParts): App {
  const app = bareApp(parts)
  healthRoutes(app, parts)
  return app
}

function bareApp({ clock, newId }: Pick<HttpParts, 'clock' | 'newId'>): App {
  const app: App = Fastify({
    bodyLimit: BODY_LIMIT_BYTES,
    genReqId: newId,
    requestIdHeader: false,
    // A proxy on this machine may say for whom it asks; anyone else's X-Forwarded-For is ignored.
    trustProxy: 'loopback',
    // connections.ts refuses requests during a stop, in the contract's shape.
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: true },
    ...connectionLimits,
    clientErrorHandler: onClientError,
    // A path that cannot be decoded, or is too long to be an id, leads nowhere. Hooks do not see these requests.
    frameworkErrors: (_, request, reply) => void onError(notFound(request), request, identified(request, reply)),
  }).withTypeProvider<ZodTypeProvider>()
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  app.setErrorHandler(onError)
  app.setNotFoundHandler(onNotFound)
  takeJson(app)
  traceRequests(app)
  tellRequests(app)
  endConnections(app, clock)
  return app
}

const ALL_ROUTES: readonly ((app: App, parts: HttpParts) => void)[] = [
  healthRoutes,
  signInRoutes,
  documentRoutes,
  tokenRoutes,
  connectionRoutes,
  consentRoutes,
  activityRoutes,
  streamRoutes,
  importRoutes,
  eventRoutes,
  sleepRoutes,
  quotaRoutes,
  adminRoutes,
  deadLetterRoutes,
  simulatedRoutes,
  webhookRoutes,
]

/** Takes JSON only. Many clients send its content type without a body; a route that needs a body says so in its schema. */
function takeJson(app: App): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null)
    else void parse(request, body, done)
  })
}

const identified = (request: FastifyRequest, reply: FastifyReply): FastifyReply => reply.header('x-request-id', request.id)

/** Told as the status when the client left before the answer. HTTP has none for that. */
const CLIENT_LEFT = 499

/** An event stream is told when it begins: a client that leaves after hours is neither slow nor a failure. */
const isEndless = (reply: FastifyReply): boolean => reply.getHeader('content-type') === EVENT_STREAM

function tellOf(request: FastifyRequest, reply: FastifyReply, status: number): void {
  const { id, method } = request
  // Elapsed time is Fastify's own, in real milliseconds: it does not shrink with the clock.
  tell('paceline:request', { id, method, route: routeOf(request), status, durationMs: reply.elapsedTime })
}

function tellRequests(app: App): void {
  app.addHook('onRequest', (request, reply, done) => {
    identified(request, reply)
    const onLeft = (): void => {
      if (!isEndless(reply)) tellOf(request, reply, CLIENT_LEFT)
    }
    reply.raw.once('close', onLeft).once('finish', () => reply.raw.off('close', onLeft))
    done()
  })
  app.addHook('onSend', (request, reply, payload, done) => {
    if (isEndless(reply)) tellOf(request, reply, reply.statusCode)
    done(null, payload)
  })
  app.addHook('onResponse', (request, reply, done) => {
    if (!isEndless(reply)) tellOf(request, reply, reply.statusCode)
    done()
  })
}
