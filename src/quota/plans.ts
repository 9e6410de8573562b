// Remembers plans. A plan depends on the kind of call, the terms and the time, and says for how long it is right: until then the
// next call of the same kind gets the same one.
import type { QuotaSettings } from './meters.ts'
import type { Refused, PermitNeed } from './permit.ts'
import { planFor, type Plan } from './plan.ts'
import { readLearned } from './learned-limits.ts'

interface Remembered {
  readonly learned: string
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
