// Trouble on request. A fault fits a vendor, perhaps a route, and happens a number of times or with a probability; the first
// one that fits a moment is used up. Which moment a kind belongs to: before the vendor acts, on its answer, or on a webhook.
import type { Random } from '../kernel/random.ts'
import { matchTemplate, type VendorName } from './router.ts'

/** Adds to any other trouble. */
export const SLOW_KINDS = ['latency'] as const
export const BEFORE_KINDS = ['hang', 'reset', '429', '5xx', '597', 'not_found', 'streams_not_ready'] as const
export const ANSWER_KINDS = ['truncated', 'malformed', 'no_headers', 'odd_headers'] as const
export const WEBHOOK_KINDS = ['webhook_duplicate', 'webhook_late', 'webhook_reorder', 'webhook_lost'] as const
export const FAULT_KINDS = [...SLOW_KINDS, ...BEFORE_KINDS, ...ANSWER_KINDS, ...WEBHOOK_KINDS] as const

export type FaultKind = (typeof FAULT_KINDS)[number]

export interface Fault {
  readonly vendor: VendorName
  /** A template (`/api/v3/activities/{id}`), with its method or without, or one path; absent: every route. */
  readonly route?: string
  readonly kind: FaultKind
  /** How often; absent: for ever. */
  readonly times?: number
  readonly probability?: number
  /** For `latency` and `webhook_late`. */
  readonly ms?: number
}

export interface FaultPlace {
  readonly vendor: VendorName
  readonly method: string
  readonly template: string
  readonly path: string
}

interface Armed {
  readonly fault: Fault
  left: number
}

/** Kinds that make sense on some routes only, when the fault itself names none. */
const HOME: Readonly<Partial<Record<FaultKind, RegExp>>> = {
  streams_not_ready: /\/streams$/,
  not_found: /\{[^}]+\}$/,
}

export class Faults {
  #armed: Armed[] = []
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  add(faults: readonly Fault[]): void {
    this.#armed.push(...faults.map(fault => ({ fault, left: fault.times ?? Infinity })))
  }

  clear(): void {
    this.#armed = []
  }

  list(): Fault[] {
    return this.#armed.map(({ fault, left }) => (Number.isFinite(left) ? { ...fault, times: left } : fault))
  }

  /** The fault of one of these kinds that strikes here and now, if any; it is used up by being asked for. */
  strike(kinds: readonly FaultKind[], place: FaultPlace): Fault | undefined {
    const armed = this.#armed.find(({ fault }) => kinds.includes(fault.kind) && fits(fault, place) && this.#happens(fault))
    if (armed === undefined) return undefined
    armed.left -= 1
    this.#armed = this.#armed.filter(({ left }) => left > 0)
    return armed.fault
  }

  #happens({ probability }: Fault): boolean {
    return probability === undefined || this.#random.next() < probability
  }
}

function fits(fault: Fault, place: FaultPlace): boolean {
  if (fault.vendor !== place.vendor) return false
  if ((WEBHOOK_KINDS as readonly string[]).includes(fault.kind)) return true
  if (fault.route === undefined) return HOME[fault.kind]?.test(place.template) ?? true
  const [, method, path = ''] = /^(?:([A-Z]+)\s+)?(.*)$/.exec(fault.route) ?? []
  if (method !== undefined && method !== place.method) return false
  return path === place.template || path === place.path || matchTemplate(path, place.path) !== undefined
}
