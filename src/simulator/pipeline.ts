// One call to one vendor, from the door to the outcome: the vendor lets it in (token, scope, limit), a fault may strike before the
// vendor acts, the route answers, a fault may spoil the answer. Outcomes that are no HTTP at all (hang, reset, a body cut short) are
// values here; how they feel on the wire is decided by whoever carries them.
import type { Answer } from './answer.ts'
import { withHeaders } from './answer.ts'
import { ANSWER_KINDS, BEFORE_KINDS, SLOW_KINDS, type Fault, type FaultPlace } from './faults.ts'
import type { Call, Route } from './router.ts'
import type { Stage, Vendor } from './stage.ts'

export type Outcome =
  | { readonly how: 'answer' | 'truncated'; readonly answer: Answer }
  | { readonly how: 'hang' }
  | { readonly how: 'reset' }

const LATENCY_MS = 1500
const SERVER_ERRORS = [500, 502, 503, 504]
const RATE_HEADER = /rate-?limit|^retry-after$/i

const answered = (answer: Answer): Outcome => ({ how: 'answer', answer })

export async function serve(stage: Stage, vendor: Vendor, route: Route, call: Call): Promise<Outcome> {
  stage.journal.request(vendor.name, `${route.method} ${route.template}`)
  const place: FaultPlace = { vendor: vendor.name, method: route.method, template: route.template, path: call.path }
  const admission = vendor.admit(call, route)
  if (admission.outcome === 'refused') return answered(admission.answer)
  const slow = stage.faults.strike(SLOW_KINDS, place)
  if (slow !== undefined) await stage.clock.sleep(slow.ms ?? LATENCY_MS, call.signal)
  const fault = stage.faults.strike(BEFORE_KINDS, place)
  if (fault?.kind === 'hang' || fault?.kind === 'reset') return { how: fault.kind }
  const answer = insteadOf(stage, vendor, call, fault) ?? (await route.handle(call, admission.grant))
  const dressed = withHeaders(answer, admission.headersFor(answer))
  return spoiled(dressed, stage.faults.strike(ANSWER_KINDS, place))
}

/** What a fault says in the route's place; nothing when the route itself may speak. */
function insteadOf(stage: Stage, vendor: Vendor, call: Call, fault: Fault | undefined): Answer | undefined {
  const kind = fault?.kind
  if (kind === '429') return vendor.overLimit(call)
  if (kind === '5xx') return vendor.failure(SERVER_ERRORS[Math.floor(stage.random.next() * SERVER_ERRORS.length)] ?? 500)
  if (kind === '597') return vendor.failure(597)
  return kind === 'not_found' || kind === 'streams_not_ready' ? vendor.notFound(call) : undefined
}

const odd = (name: string): string => (/usage|remaining/i.test(name) ? ',' : 'soon, perhaps')

function spoiled(answer: Answer, fault: Fault | undefined): Outcome {
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
