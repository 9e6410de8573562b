// Faults: misbehaviour that a test orders from a vendor. A fault fits a vendor and perhaps a route, and happens a number of times
// or with a probability; the first one that fits is used up. Its kind decides when it acts: before the vendor does, on the
// vendor's answer, or on a webhook.
import type { Random } from '../kernel/random.ts'
import { matchTemplate, type VendorName } from './router.ts'

/** Happens in addition to any other fault. */
export const SLOW_KINDS = ['latency'] as const
export const BEFORE_KINDS = ['hang', 'reset', '429', '5xx', '597', 'inactive', 'not_found', 'streams_not_ready'] as const
export const ANSWER_KINDS = ['truncated', 'malformed', 'no_headers', 'odd_headers'] as const
export const WEBHOOK_KINDS = ['webhook_duplicate', 'webhook_late', 'webhook_reorder', 'webhook_lost'] as const
export const FAULT_KINDS = [...SLOW_KINDS, ...BEFORE_KINDS, ...ANSWER_KINDS, ...WEBHOOK_KINDS] as const

export type FaultKind = (typeof FAULT_KINDS)[number]

export interface Fault {
  readonly vendor: VendorName
  /** A template (`/api/v3/activities/{id}`), with or without its method, or one path. Absent: every route. */
  readonly route?: string
  readonly kind: FaultKind
  /** How often it happens. Absent: always. */
  readonly times?: number
  readonly probability?: number
  /** For `latency` and `webhook_late`. */
  readonly ms?: number
}

export interface FaultTarget {
  readonly vendor: VendorName
  readonly method: string
  readonly template: string
  readonly path: string
}

interface Armed {
  readonly fault: Fault
  left: number
}

/** The routes of kinds that make sense on some only. They hold when the fault names no route. */
const DEFAULT_TEMPLATES: Readonly<Partial<Record<FaultKind, RegExp>>> = {
  streams_not_ready: /\/streams$/,
  not_found: /\{[^}]+\}$/,
  // Strava's own: its API refuses the application, while OAuth goes on working.
  inactive: /^\/api\/v3\/(?!oauth\/)/,
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

  /** The fault of one of these kinds that happens to this call, if any. Asking uses it up. */
  strike(kinds: readonly FaultKind[], target: FaultTarget): Fault | undefined {
    const armed = this.#armed.find(({ fault }) => kinds.includes(fault.kind) && fits(fault, target) && this.#happens(fault))
    if (armed === undefined) return undefined
    armed.left -= 1
    this.#armed = this.#armed.filter(({ left }) => left > 0)
    return armed.fault
  }

  #happens({ probability }: Fault): boolean {
    return probability === undefined || this.#random.next() < probability
  }
}

function fits(fault: Fault, target: FaultTarget): boolean {
  if (fault.vendor !== target.vendor) return false
  if ((WEBHOOK_KINDS as readonly string[]).includes(fault.kind)) return true
  if (fault.route === undefined) return DEFAULT_TEMPLATES[fault.kind]?.test(target.template) ?? true
  const [, method, path = ''] = /^(?:([A-Z]+)\s+)?(.*)$/.exec(fault.route) ?? []
  if (method !== undefined && method !== target.method) return false
  return path === target.template || path === target.path || matchTemplate(path, target.path) !== undefined
}
