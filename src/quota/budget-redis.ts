// The budget in Redis: one script per decision, so that a refusal costs the database nothing. It is a copy of the ledger. The learned limits
// carry the run_id of the server they were written to. When they are missing or carry another run_id, or when an answer was lost, Redis is
// refilled from the ledger before it grants anything.
import type { Clock } from '../kernel/clock.ts'
import { DAY_MS } from '../kernel/durations.ts'
import { hasCode } from '../kernel/errors.ts'
import { loadScript, type Redis } from '../redis/redis.ts'
import { vendors, type Pool, type VendorName } from '../vendors/vendors.ts'
import { SINGLE_FILE_MS, type Budget, type Settled, type Settlement, type Taken, type Ticket } from './budget.ts'
import type { Counted, LedgerBudget } from './budget-ledger.ts'
import { APP, counterKey, heldKey, metersOf, windowIdAt, type Meter, type QuotaSettings } from './meters.ts'
import type { Counter, Plan } from './plan.ts'
import { NOTHING_LEARNED, writeLearned } from './learned-limits.ts'

const script = (name: string) => loadScript(new URL(`${name}.lua`, import.meta.url))
const scripts = { take: script('take'), end: script('end'), swap: script('swap'), rebuild: script('rebuild') }

/** A script that the server does not hold takes two round trips, each within the port's own limit; after that it is `unavailable`. */
const answerMs = ({ deadlineMs }: Redis): number => 2 * deadlineMs + 40
/** A time that was so long on its way says too little of now. */
const SLOW_ANSWER_MS = 500
const TIMER_SHARED_MS = 5
/** Longer than the longest window and the one after it: a counter that expired sooner would be a free window. */
const TTL_MS = 3 * DAY_MS

interface RedisBudgetParts {
  readonly redis: Redis
  readonly clock: Clock
  readonly ledger: Pick<LedgerBudget, 'current' | 'windows'>
  readonly settings: QuotaSettings
  /** The Redis server's own time decides the windows; false under a clock that does not follow real time. */
  readonly serverTime: boolean
}

/** How far a take has come: one that was sent and not answered may be counted, one that was not sent in time must not be any more. */
interface Attempt {
  isSent: boolean
  isOver: boolean
}

interface Wired {
  readonly keys: readonly string[]
  readonly args: readonly string[]
}

interface Move {
  readonly key: string
  readonly by: number
  readonly least: number
  /** The key of the calls under way that are added before the count is compared with `least`. */
  readonly carried?: string | undefined
}

export class RedisBudget implements Budget {
  readonly #parts: RedisBudgetParts
  readonly #learned = new Map<VendorName, string>()
  /** Vendors for which an answer was lost: Redis may have counted a call that the ledger does not know. */
  readonly #doubted = new Set<VendorName>()
  /** The permits of those answers. */
  readonly #lost = new Set<string>()
  readonly #rebuilding = new Map<VendorName, Promise<string>>()
  readonly #wires = new WeakMap<readonly Counter[], Wired>()
  #timedFrom = Number.NEGATIVE_INFINITY
  #unanswered: Promise<Taken> = Promise.resolve({ outcome: 'unavailable' })
  #runId = ''
  #checkedAt = -1
  #aheadMs = 0

  constructor(parts: RedisBudgetParts) {
    this.#parts = parts
  }

  now(): number {
    return this.#parts.clock.now() + this.#aheadMs
  }

  learned(vendor: VendorName): string {
    return this.#learned.get(vendor) ?? writeLearned(NOTHING_LEARNED, 0)
  }

  async take(id: string, plan: Plan, learned: string): Promise<Taken> {
    const attempt = { isSent: false, isOver: false }
    const asking = this.#take(attempt, id, plan, learned)
    const taken = await Promise.race([asking, this.#tooLate()]).catch((error: unknown): Taken => {
      if (isAway(error)) return { outcome: 'unavailable' }
      throw error
    })
    attempt.isOver = true
    if (taken.outcome === 'unavailable' && attempt.isSent) {
      this.#doubted.add(plan.need.vendor)
      if (plan.singleFile) this.#lost.add(id)
    }
    return taken
  }

  /** Sets every counter to the ledger's: now, or before the next grant if Redis does not answer. */
  async refill(vendor: VendorName): Promise<void> {
    await this.#rebuild(vendor).catch((error: unknown) => {
      if (!isAway(error)) throw error
      this.#doubted.add(vendor)
    })
  }

  async giveBack({ id, plan }: Ticket): Promise<void> {
    const moves = plan.counters.flatMap(counter => [by(counter, -counter.units), ...held(counter, -counter.units)])
    await this.#end(id, plan.need.vendor, moves)
  }

  async settle({ id, plan }: Ticket, { late, raises }: Settlement): Promise<Settled> {
    return await this.#end(id, plan.need.vendor, [
      ...plan.counters.flatMap(counter => held(counter, -counter.units)),
      ...late.map(counter => by(counter, counter.units)),
      ...raises.map(({ counter, to }) => raise(counter, to)),
    ])
  }

  /** When Redis does not answer or is empty nothing is lost: the ledger has the learned limits and refills it. */
  async swap(vendor: VendorName, from: string, to: string): Promise<string> {
    try {
      const args = [this.#signed(from), this.#signed(to), TTL_MS]
      return this.#inForce(vendor, await this.#parts.redis.run(scripts.swap, [learnedKey(vendor)], args)) ?? to
    } catch (error) {
      if (isAway(error)) return to
      throw error
    }
  }

  async #take(attempt: Attempt, id: string, plan: Plan, learned: string): Promise<Taken> {
    const { vendor } = plan.need
    // These have their own time: when it is too late for this take they go on, and the next one finds them done.
    if (this.#parts.redis.connections() !== this.#checkedAt) await this.#checkServer()
    if (this.#doubted.has(vendor)) await this.#rebuild(vendor)
    if (attempt.isOver) return { outcome: 'unavailable' }
    attempt.isSent = true
    const sentAt = this.#parts.clock.now()
    const answer = (await this.#parts.redis.run(scripts.take, ...this.#asked(id, plan, learned))) as [
      Taken['outcome'],
      number,
      ...unknown[],
    ]
    const [outcome, now, ...rest] = answer
    this.#follow(now, sentAt)
    if (outcome === 'taken' || outcome === 'full') return { outcome, at: now, counts: rest as number[] }
    // Whatever is answered from here on was not counted.
    attempt.isSent = false
    if (outcome !== 'changed') return { outcome }
    return { outcome, learned: this.#inForce(vendor, rest[0]) ?? (await this.#rebuild(vendor)) }
  }

  /** The server showed `theirs` while the question was under way: half way, as far as anybody can tell. */
  #follow(theirs: number, sentAt: number): void {
    const { clock, serverTime } = this.#parts
    const tookMs = clock.now() - sentAt
    if (serverTime && tookMs <= SLOW_ANSWER_MS) this.#aheadMs = Math.round(theirs - sentAt - tookMs / 2)
  }

  #asked(id: string, plan: Plan, learned: string): [readonly string[], (string | number)[]] {
    const { keys, args } = this.#wired(plan)
    const now = this.#parts.serverTime ? '' : this.now()
    return [keys, [this.#signed(learned), now, plan.singleFile ? id : '', ...args]]
  }

  /** A plan as keys and arguments; cached, because a plan is used many times. */
  #wired({ need: { vendor }, counters, from, until, singleFile }: Plan): Wired {
    const known = this.#wires.get(counters)
    if (known !== undefined) return known
    const before = [
      ...new Set(counters.flatMap(({ carriedFrom }) => (carriedFrom ? [heldKey(carriedFrom.meter, carriedFrom.windowId)] : []))),
    ]
    const noted = counters.filter(({ holds }) => holds)
    const carries = ({ carriedFrom }: Counter): number =>
      carriedFrom === undefined ? 0 : before.indexOf(heldKey(carriedFrom.meter, carriedFrom.windowId)) + 1
    const wired = {
      keys: [
        learnedKey(vendor),
        ...counters.map(({ meter, windowId }) => counterKey(meter, windowId)),
        ...before,
        ...(singleFile ? [busyKey(vendor)] : []),
        ...noted.map(({ meter, windowId }) => heldKey(meter, windowId)),
      ],
      args: [from, until, counters.length, before.length, SINGLE_FILE_MS, TTL_MS]
        .concat(
          counters.flatMap(counter => [counter.units, counter.cap, carries(counter)]),
          noted.map(({ units }) => units),
        )
        .map(String),
    }
    this.#wires.set(counters, wired)
    return wired
  }

  /** One timer for all decisions that start within a few milliseconds: timers are the most expensive part of a decision. */
  #tooLate(): Promise<Taken> {
    const { clock, redis } = this.#parts
    if (clock.now() - this.#timedFrom >= TIMER_SHARED_MS * clock.speed) {
      this.#timedFrom = clock.now()
      const signal = clock.deadline(answerMs(redis))
      const mine: Promise<Taken> = new Promise(resolve => {
        signal.addEventListener(
          'abort',
          () => {
            if (this.#unanswered === mine) this.#timedFrom = Number.NEGATIVE_INFINITY
            resolve({ outcome: 'unavailable' })
          },
          { once: true },
        )
      })
      this.#unanswered = mine
    }
    return this.#unanswered
  }

  /** After a reconnect the server may have been restarted, perhaps from an old snapshot; its run_id tells. */
  async #checkServer(): Promise<void> {
    const connections = this.#parts.redis.connections()
    this.#runId = await this.#parts.redis.runId()
    this.#checkedAt = connections
  }

  #signed(learned: string): string {
    return `${this.#runId} ${learned}`
  }

  /** The learned limits, if they were written to this very server. */
  #inForce(vendor: VendorName, signed: unknown): string | undefined {
    if (typeof signed !== 'string' || !signed.startsWith(`${this.#runId} `)) return undefined
    const learned = signed.slice(this.#runId.length + 1)
    this.#learned.set(vendor, learned)
    return learned
  }

  #rebuild(vendor: VendorName): Promise<string> {
    const running = this.#rebuilding.get(vendor)
    if (running !== undefined) return running
    const rebuilt = this.#refill(vendor).finally(() => this.#rebuilding.delete(vendor))
    this.#rebuilding.set(vendor, rebuilt)
    return rebuilt
  }

  /** Other processes may count during the rebuild, so Redis can end up a call or two short; the ledger decides last. */
  async #refill(vendor: VendorName): Promise<string> {
    const { ledger, redis } = this.#parts
    const learned = await ledger.current(vendor)
    const counts = this.#counters(vendor, await ledger.windows(vendor, this.now() - 2 * longestMs(vendor)))
    const lost = [...this.#lost]
    const keys = [learnedKey(vendor), busyKey(vendor), ...counts.keys()]
    await redis.run(scripts.rebuild, keys, [this.#signed(learned), TTL_MS, lost.join(' '), ...counts.values()])
    for (const id of lost) this.#lost.delete(id)
    this.#doubted.delete(vendor)
    this.#learned.set(vendor, learned)
    return learned
  }

  /** The counters of the ledger's present and previous windows. The application's own are listed even where the ledger has no row. */
  #counters(vendor: VendorName, counted: readonly Counted[]): Map<string, number> {
    const { facts } = vendors[vendor]
    const now = this.now()
    const counts = new Map<string, number>()
    const set = (meter: Meter, windowId: number, used: number, underWay: number): void => {
      counts.set(counterKey(meter, windowId), used)
      if (meter.shortest) counts.set(heldKey(meter, windowId), underWay)
    }
    const metersIn = (pool: Pool, scope: string): Meter[] =>
      metersOf(facts, pool, scope === APP ? undefined : scope, this.#parts.settings)
    for (const pool of facts.pools.filter(({ scope }) => scope === 'app')) {
      for (const meter of metersIn(pool, APP)) for (const back of [1, 0]) set(meter, windowIdAt(meter, now) - back, 0, 0)
    }
    for (const { pool: name, scope, window, startsAt, used, held: underWay } of counted) {
      const pool = facts.pools.find(one => one.name === name)
      const meter = pool && metersIn(pool, scope).find(one => one.window === window)
      if (meter && windowIdAt(meter, startsAt) >= windowIdAt(meter, now) - 1)
        set(meter, windowIdAt(meter, startsAt), used, underWay)
    }
    return counts
  }

  async #end(id: string, vendor: VendorName, moves: readonly Move[]): Promise<Settled> {
    const carried = [...new Set(moves.flatMap(move => move.carried ?? []))]
    const keys = [learnedKey(vendor), busyKey(vendor), ...moves.map(({ key }) => key), ...carried]
    const args = moves.flatMap(move => [move.by, move.least, move.carried === undefined ? 0 : carried.indexOf(move.carried) + 1])
    try {
      const [ahead, learned] = (await this.#parts.redis.run(scripts.end, keys, [id, TTL_MS, moves.length, ...args])) as unknown[]
      return { isShared: ahead === 1, learned: this.#inForce(vendor, learned) }
    } catch (error) {
      if (!isAway(error)) throw error
      this.#doubted.add(vendor)
      return { isShared: false, learned: undefined }
    }
  }
}

/** The vendor's longest window: with the one before it, all that can still count. */
const longestMs = (vendor: VendorName): number =>
  Math.max(...vendors[vendor].facts.pools.flatMap(({ windows }) => windows.map(({ seconds }) => seconds * 1_000)))

const learnedKey = (vendor: VendorName): string => `{${vendor}}:rate:learned`
const busyKey = (vendor: VendorName): string => `{${vendor}}:rate:busy`

const by = ({ meter, windowId }: Counter, units: number): Move => ({ key: counterKey(meter, windowId), by: units, least: 0 })
const raise = ({ meter, windowId, carriedFrom }: Counter, least: number): Move => ({
  key: counterKey(meter, windowId),
  by: 0,
  least,
  carried: carriedFrom && heldKey(carriedFrom.meter, carriedFrom.windowId),
})
const held = ({ meter, windowId, holds }: Counter, units: number): Move[] =>
  holds ? [{ key: heldKey(meter, windowId), by: units, least: 0 }] : []

const isAway = (error: unknown): boolean => hasCode(error, 'PACE_REDIS_UNAVAILABLE')
