// Which histories get an import by themselves: at once after a consent, then a look at the newest at intervals, and once a week a look at the
// whole list. A look that brings nothing is repeated, later each time. Only the first look after a consent is free: all others together stay
// within their share of the vendor's budget, spread over the day.
import type { Connections, DueLook, NextLook } from '../accounts/accounts.ts'
import type { Clock } from '../kernel/clock.ts'
import { DAY_MS, MINUTE_MS } from '../kernel/durations.ts'
import type { Quota } from '../quota/quota.ts'
import { vendorNames, vendors, type VendorName } from '../vendors/vendors.ts'
import { importers } from './importers.ts'
import type { ImportType, JobStore } from './job-store.ts'

interface PollingParts {
  readonly clock: Clock
  readonly connections: Pick<Connections, 'looks'>
  readonly quota: Pick<Quota, 'vendorState'>
  readonly store: JobStore
  readonly pollMinutes: number
  /** How many list calls a look at the whole list takes. */
  readonly wholeLookCalls: (athleteId: string, vendor: VendorName) => Promise<number>
  readonly start: (
    athleteId: string,
    vendor: VendorName,
    wish: { readonly type: ImportType },
  ) => Promise<{ readonly outcome: string }>
}

type History = Pick<DueLook, 'athleteId' | 'vendor'>
type Kind = { readonly vendor: VendorName; readonly type: ImportType }
/** A look that may begin, and for how long it closes its share. */
type Chosen<H> = H & { readonly costMs: number }

/** The parts of the day's budget that all looks at the newest, and all looks at whole lists, may use: a fifth together. */
const SHARES: Readonly<Record<ImportType, number>> = { incremental: 0.15, full: 0.05 }
/** One page, and one more where the first does not reach back far enough and the end of the list must be found. */
export const CALLS_PER_POLL = 2
/** A vendor that allows next to nothing is asked once a week all the same. */
const COST_MAX_MS = 7 * DAY_MS
/** More than a minute's share is at any vendor; the rest comes a minute later. */
const AT_ONCE = 100
/** A look at a whole list that did not come to its end is tried again after this time. */
const WHOLE_AGAIN_MS = DAY_MS
/** When an import is under way already: its end sets the next look, so this is for one that fails. Sooner after a consent. */
const BEHIND_LIVE_MS = DAY_MS
const BEHIND_LIVE_NEW_MS = 10 * MINUTE_MS
/** From here on waiting times do not grow any more, whatever the interval. */
const TRIES_MAX = 15
const ONCE: readonly VendorName[] = vendorNames.filter(name => !importers[name].isPolled)
const RELOOKED: readonly VendorName[] = vendorNames.filter(name => importers[name].isRelooked)
/** The vendors whose failed import only a person starts again. */
const BY_HAND: readonly VendorName[] = vendorNames.filter(name => vendors[name].facts.whenSpent === 'fail')

/** How long after a completed import the next look comes; undefined: none comes. */
export const lookEveryMs = (vendor: VendorName, pollMinutes: number): number | undefined =>
  importers[vendor].isPolled ? pollMinutes * MINUTE_MS : undefined

export class Polling {
  readonly #parts: PollingParts

  constructor(parts: PollingParts) {
    this.#parts = parts
  }

  /** Starts everything that is due. */
  async look(): Promise<void> {
    const { clock, store } = this.#parts
    await this.lookFirst()
    const closed = await store.closedShares(clock.now())
    const isOpen = (type: ImportType) => (vendor: VendorName) =>
      !closed.some(share => share.type === type && share.vendor === vendor)
    await this.#lookWhole(RELOOKED.filter(isOpen('full')))
    await this.#lookLater(vendorNames.filter(isOpen('incremental')))
  }

  /** Starts the imports of those who have consented since. */
  async lookFirst(): Promise<void> {
    for (const due of await this.#unserved(await this.#parts.connections.looks.first(AT_ONCE))) await this.#poll(due)
  }

  /** Whose whole look has to wait is polled meanwhile. */
  async #lookWhole(names: readonly VendorName[]): Promise<void> {
    const { clock, store, start } = this.#parts
    const due = names.length === 0 ? [] : await store.fullDue(names, clock.now())
    await this.#withinShare('full', due, async history => {
      await store.postponeFull(history, clock.now() + WHOLE_AGAIN_MS)
      return await start(history.athleteId, history.vendor, { type: 'full' })
    })
  }

  async #lookLater(names: readonly VendorName[]): Promise<void> {
    const due = names.length === 0 ? [] : await this.#parts.connections.looks.later(names, AT_ONCE)
    await this.#withinShare('incremental', await this.#unserved(due), look => this.#poll(look))
  }

  async #poll(due: DueLook): Promise<{ readonly outcome: string }> {
    const { connections, start } = this.#parts
    const started = await start(due.athleteId, due.vendor, { type: 'incremental' })
    await connections.looks.move([{ due, next: this.#again(due.tries) }])
    return started
  }

  /** If the import does not complete, the next look comes twice as late each time, up to a day. */
  #again(tries: number): NextLook {
    const everyMs = this.#parts.pollMinutes * MINUTE_MS
    const afterMs = Math.min(everyMs * 2 ** tries, Math.max(everyMs, DAY_MS))
    return { at: this.#parts.clock.now() + afterMs, tries: Math.min(tries + 1, TRIES_MAX) }
  }

  /** Those that an import is wanted for; the others are looked at later, or no more. After a completed import tries are counted anew. */
  async #unserved(due: readonly DueLook[]): Promise<DueLook[]> {
    const { connections, store } = this.#parts
    const standings = await store.standings(due, { once: ONCE, byHand: BY_HAND })
    const wanted: DueLook[] = []
    const moved: { due: DueLook; next: NextLook }[] = []
    for (const [index, look] of due.entries()) {
      const standing = standings[index]
      if (standing === 'wanted') wanted.push(look)
      else if (standing === 'completed') wanted.push({ ...look, tries: 0 })
      else moved.push({ due: look, next: this.#behind(look, standing === 'live') })
    }
    await connections.looks.move(moved)
    return wanted
  }

  /** After an import that is live, or one that only a person follows up. */
  #behind({ tries }: DueLook, isLive: boolean): NextLook {
    if (!isLive) return { at: undefined, tries: Math.max(1, tries) }
    return { at: this.#parts.clock.now() + (tries === 0 ? BEHIND_LIVE_NEW_MS : BEHIND_LIVE_MS), tries }
  }

  /** Begins as many as the share has list calls for in a minute, one at least, and closes the share until they are paid for. */
  async #withinShare<H extends History>(
    type: ImportType,
    due: readonly H[],
    begin: (look: H) => Promise<{ readonly outcome: string }>,
  ): Promise<void> {
    for (const [vendor, those] of Map.groupBy(due, look => look.vendor)) {
      let costMs = 0
      for (const look of await this.#chosen({ vendor, type }, those))
        if ((await begin(look)).outcome === 'new') costMs += look.costMs
      if (costMs > 0) await this.#parts.store.closeShare({ vendor, type }, this.#parts.clock.now(), costMs)
    }
  }

  async #chosen<H extends History & { readonly isNew?: boolean }>(kind: Kind, due: readonly H[]): Promise<Chosen<H>[]> {
    const { wholeLookCalls } = this.#parts
    const msPerCall = await this.#msPerCall(kind)
    const chosen: Chosen<H>[] = []
    let totalMs = 0
    for (const look of due) {
      const isWhole = kind.type === 'full' || look.isNew === true
      const calls = isWhole ? await wholeLookCalls(look.athleteId, kind.vendor) : CALLS_PER_POLL
      const costMs = Math.min(calls * msPerCall, COST_MAX_MS)
      totalMs += costMs
      if (chosen.length > 0 && totalMs > MINUTE_MS) break
      chosen.push({ ...look, costMs })
    }
    return chosen
  }

  /** By the window that allows least in a day. A token's own pool is its athlete's affair. */
  async #msPerCall({ vendor, type }: Kind): Promise<number> {
    const { pools } = await this.#parts.quota.vendorState(vendor)
    const shared = vendors[vendor].facts.pools.filter(({ scope }) => scope === 'app')
    const perDay = shared.flatMap(({ name, windows }) => {
      const states = pools.find(({ pool }) => pool === name)?.windows ?? []
      return windows.map(({ name: window, seconds }) => {
        const allowed = states.find(state => state.window === window)?.allowed ?? 0
        return allowed * (DAY_MS / (seconds * 1_000))
      })
    })
    return DAY_MS / (SHARES[type] * Math.min(...perDay))
  }
}
