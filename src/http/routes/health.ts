// Whether Paceline is there (healthz), whether it can work (readyz), and its figures (metrics).
import { z } from 'zod'
import type { Clock } from '../../kernel/clock.ts'
import { PacelineError, reasonOf } from '../../kernel/errors.ts'
import { within } from '../../kernel/within.ts'
import { redactText } from '../../telemetry/telemetry.ts'
import { errorAnswer } from '../answers.ts'
import type { App, HealthParts } from '../app.ts'
import { PartFailure, type Part } from '../part.ts'

/** Shorter than the usual time limit of a prober, so that a part that hangs is named. */
const CHECK_DEADLINE_MS = 2_000
/** Between two looks at a part. One slow answer is no outage, and a load balancer would take the process out for it. */
const LOOK_AGAIN_MS = 250

export function healthRoutes(app: App, { clock, demo, metrics, parts, version }: HealthParts): void {
  const config = { audience: 'anyone' } as const
  const alive = z.object({ status: z.literal('ok'), version: z.string(), demo: z.boolean() })
  app.get(
    '/healthz',
    { config, schema: { summary: 'Whether the process is alive', tags: ['operation'], response: { 200: alive } } },
    () => ({
      status: 'ok' as const,
      version,
      demo,
    }),
  )

  const ready = z.object({ status: z.literal('ready'), parts: z.array(z.string()) })
  const readySchema = {
    summary: 'Whether everything that Paceline needs answers; names what does not',
    tags: ['operation'],
    querystring: z.object({ for: z.literal('api').optional().describe('`api`: asks only for what serving needs') }),
    response: { 200: ready, 503: errorAnswer },
  }
  app.get('/readyz', { config, schema: readySchema }, async ({ query }) => {
    const asked = query.for === 'api' ? parts.filter(({ serves = false }) => serves) : parts
    const failures = (await Promise.all(asked.map(part => failureOf(part, clock)))).filter(failure => failure !== undefined)
    if (failures.length === 0) return { status: 'ready' as const, parts: asked.map(part => part.name) }
    throw new PacelineError('PACE_NOT_READY', `Not ready: ${failures.map(failure => failure.name).join(', ')}.`, {
      details: failures.map(({ name, reason }) => `${name}: ${reason}`),
    })
  })

  const metricsSchema = {
    summary: 'Prometheus metrics',
    tags: ['operation'],
    response: { 200: z.string() },
    produces: ['text/plain'],
  }
  app.get('/metrics', { config, schema: metricsSchema }, async (_, reply) => {
    const { contentType, text } = await metrics()
    return await reply.header('content-type', contentType).send(text)
  })
}

interface Failure {
  readonly name: string
  readonly reason: string
  /** The part answered, so looking again would tell nothing new. */
  readonly isKnown?: boolean
}

async function failureOf(part: Part, clock: Clock): Promise<Failure | undefined> {
  const first = await lookAt(part, clock)
  if (first === undefined || first.isKnown === true) return first
  await clock.sleep(LOOK_AGAIN_MS * clock.speed)
  return await lookAt(part, clock)
}

async function lookAt({ name, check }: Part, clock: Clock): Promise<Failure | undefined> {
  const deadline = clock.deadline(CHECK_DEADLINE_MS)
  try {
    await within(deadline, check())
    return undefined
  } catch (error) {
    if (error === deadline.reason) return { name, reason: `no answer within ${CHECK_DEADLINE_MS} ms` }
    if (error instanceof PartFailure) return { name: `${name} ${error.state}`, reason: error.message, isKnown: true }
    // Anyone may ask, so a password in an address is taken out.
    return { name, reason: redactText(reasonOf(error)) }
  }
}
