// A cache of plans. A plan depends on the kind of call, the learned limits and the time, and says how long it is valid. Until then the
// next call of the same kind gets the same plan.
import type { QuotaSettings } from './meters.ts'
import type { Refused, PermitNeed } from './permit.ts'
import { planFor, type Plan } from './plan.ts'
import { readLearned } from './learned-limits.ts'

interface Remembered {
  readonly learned: string
  readonly plan: Plan
}

/** Every athlete whose token has a pool of its own has a plan; a plan that was dropped is made again. */
const REMEMBERED_MAX = 1_000

export class Plans {
  readonly #settings: QuotaSettings
  readonly #remembered = new Map<string, Remembered>()

  constructor(settings: QuotaSettings) {
    this.#settings = settings
  }

  for(need: PermitNeed, learned: string, now: number): Plan | Refused {
    const kind = kindOf(need)
    const known = this.#remembered.get(kind)
    if (known?.learned === learned && known.plan.from <= now && now < known.plan.until) return { ...known.plan, need }
    const plan = planFor(need, readLearned(learned), this.#settings, now)
    if ('outcome' in plan) return plan
    if (this.#remembered.size >= REMEMBERED_MAX) this.#remembered.clear()
    this.#remembered.set(kind, { learned, plan })
    return plan
  }
}

const kindOf = ({ vendor, callClass, athleteId = '', cost }: PermitNeed): string =>
  cost.reduce((kind, { pool, units }) => `${kind} ${pool} ${units}`, `${vendor} ${callClass} ${athleteId}`)
