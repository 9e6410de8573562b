// Remembers plans. A plan depends on the kind of call, the terms and the time, and says for how long it is right: until then the
// next call of the same kind gets the same one.
import type { QuotaSettings } from './meters.ts'
import type { Exhausted, PermitNeed } from './permit.ts'
import { planFor, type Plan } from './plan.ts'
import { readTerms } from './terms.ts'

interface Remembered {
  readonly terms: string
  readonly plan: Plan
}

/** Athletes whose tokens have pools of their own each have a plan; what is forgotten is planned again. */
const REMEMBERED_MAX = 1_000

export class Plans {
  readonly #settings: QuotaSettings
  readonly #remembered = new Map<string, Remembered>()

  constructor(settings: QuotaSettings) {
    this.#settings = settings
  }

  for(need: PermitNeed, terms: string, now: number): Plan | Exhausted {
    const kind = kindOf(need)
    const known = this.#remembered.get(kind)
    if (known?.terms === terms && known.plan.from <= now && now < known.plan.until) return { ...known.plan, need }
    const plan = planFor(need, readTerms(terms), this.#settings, now)
    if ('outcome' in plan) return plan
    if (this.#remembered.size >= REMEMBERED_MAX) this.#remembered.clear()
    this.#remembered.set(kind, { terms, plan })
    return plan
  }
}

const kindOf = ({ vendor, callClass, athleteId = '', cost }: PermitNeed): string =>
  cost.reduce((kind, { pool, units }) => `${kind} ${pool} ${units}`, `${vendor} ${callClass} ${athleteId}`)
