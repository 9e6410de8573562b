// One call to one vendor. The vendor admits it (token, scope, limit), a fault may act before the vendor does, the route answers,
// a fault may spoil the answer. A reply that is no HTTP answer (hang, reset, a body cut short) is a value here; transport.ts acts
// it out.
import type { Answer } from './answer.ts'
import { withHeaders } from './answer.ts'
import type { SimulatorContext } from './context.ts'
import { ANSWER_KINDS, BEFORE_KINDS, SLOW_KINDS, type Fault, type FaultTarget } from './faults.ts'
import type { Call, Route } from './router.ts'
import type { Vendor } from './vendor.ts'

export type Reply =
  | { readonly how: 'answer' | 'truncated'; readonly answer: Answer }
  | { readonly how: 'hang' }
  | { readonly how: 'reset' }

const LATENCY_MS = 1500
const SERVER_ERRORS = [500, 502, 503, 504]
const RATE_HEADER = /rate-?limit|^retry-after$/i

const answered = (answer: Answer): Reply => ({ how: 'answer', answer })

/** The vendor's own time stands in every answer, as windows are counted by it. */
export async function serve(context: SimulatorContext, vendor: Vendor, route: Route, call: Call): Promise<Reply> {
  const reply = await replyTo(context, vendor, route, call)
  if (!('answer' in reply)) return reply
  return { ...reply, answer: withHeaders(reply.answer, { date: new Date(context.clock.now()).toUTCString() }) }
}

async function replyTo(context: SimulatorContext, vendor: Vendor, route: Route, call: Call): Promise<Reply> {
  context.journal.request(vendor.name, `${route.method} ${route.template}`)
  const target: FaultTarget = { vendor: vendor.name, method: route.method, template: route.template, path: call.path }
  const admission = vendor.admit(call, route)
  if (admission.outcome === 'refused') return answered(admission.answer)
  const slow = context.faults.strike(SLOW_KINDS, target)
  if (slow !== undefined) await context.clock.sleep(slow.ms ?? LATENCY_MS, call.signal)
  const fault = context.faults.strike(BEFORE_KINDS, target)
  if (fault?.kind === 'hang' || fault?.kind === 'reset') return { how: fault.kind }
  const answer = faultAnswer(context, vendor, call, fault) ?? (await route.handle(call, admission.grant))
  const withLimits = withHeaders(answer, admission.headersFor(answer))
  return withAnswerFault(withLimits, context.faults.strike(ANSWER_KINDS, target))
}

/** What a fault answers instead of the route; undefined if the route itself answers. */
function faultAnswer(context: SimulatorContext, vendor: Vendor, call: Call, fault: Fault | undefined): Answer | undefined {
  const kind = fault?.kind
  if (kind === '429') return vendor.overLimit(call)
  if (kind === '5xx') return vendor.failure(SERVER_ERRORS[Math.floor(context.random.next() * SERVER_ERRORS.length)] ?? 500)
  if (kind === '597') return vendor.failure(597)
  if (kind === 'inactive') return vendor.inactive?.()
  return kind === 'not_found' || kind === 'streams_not_ready' ? vendor.notFound(call) : undefined
}

const odd = (name: string): string => (/usage|remaining/i.test(name) ? ',' : 'soon, perhaps')

function withAnswerFault(answer: Answer, fault: Fault | undefined): Reply {
  const kind = fault?.kind
  if (kind === 'truncated') return { how: 'truncated', answer }
  if (kind === 'malformed') return answered({ ...answer, body: half(answer.body) })
  if (kind === 'no_headers') return answered({ ...answer, headers: mapHeaders(answer, () => undefined) })
  return answered(kind === 'odd_headers' ? { ...answer, headers: mapHeaders(answer, odd) } : answer)
}

export const half = (body: string | Uint8Array): Uint8Array => {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  return bytes.subarray(0, Math.floor(bytes.length / 2))
}

function mapHeaders({ headers }: Answer, change: (name: string) => string | undefined): Record<string, string> {
  const kept = Object.entries(headers).map(([name, value]) => [name, RATE_HEADER.test(name) ? change(name) : value] as const)
  return Object.fromEntries(kept.filter((entry): entry is readonly [string, string] => entry[1] !== undefined))
}
