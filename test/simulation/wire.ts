// The network between our processes and the vendor. A request takes its time to get there, and arrives also when its sender has
// given up on it or has died. Every arrival is written down with the vendor's own time: the auditor's only witness.
import type { VirtualClock } from '../../src/kernel/clock.ts'
import { between, type Random } from '../../src/kernel/random.ts'
import { within } from '../../src/kernel/within.ts'
import type { Fetch } from '../../src/calls/calls.ts'

/** One request as the vendor saw it. */
export interface Arrival {
  readonly at: number
  readonly by: 'us' | 'neighbour'
  readonly permitId: string | undefined
  /** How long after it was sent. */
  readonly transitMs: number
  /** 0: it got no answer. */
  readonly status: number
}

export interface Weather {
  /** Of most requests on their way there, at most. */
  readonly transitMs: number
  /** How often one takes longer than the guard band allows for. */
  readonly slowChance: number
  /** How often one is lost on its way, and how often it never leaves. */
  readonly lostChance: number
  readonly unsentChance: number
}

const SLOW_MS = { from: 3_000, to: 25_000 }
const BACK_MS = 300
const NEIGHBOUR_MS = 10_000

const broken = (code: string): TypeError => new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) })

export class Wire {
  readonly arrivals: Arrival[] = []
  /** Permits whose request was lost on its way. */
  readonly lost = new Set<string | undefined>()
  readonly #clock: VirtualClock
  readonly #random: Random
  readonly #vendor: Fetch
  readonly #weather: Weather

  constructor(parts: {
    readonly clock: VirtualClock
    readonly random: Random
    readonly vendor: Fetch
    readonly weather: Weather
  }) {
    this.#clock = parts.clock
    this.#random = parts.random
    this.#vendor = parts.vendor
    this.#weather = parts.weather
  }

  /** `heard` gets the arrival when its answer is back. */
  async send([url, init]: Parameters<Fetch>, permitId: string | undefined, heard: (arrival: Arrival) => void): Promise<Response> {
    const signal = init.signal ?? new AbortController().signal
    return await within(signal, this.#carry(url, { ...init, signal }, permitId, heard))
  }

  /** The neighbour sits next to the vendor: what it sends is there at once. */
  async sendAsNeighbour(url: string, init: RequestInit): Promise<number> {
    const at = this.#clock.now()
    const slot = this.arrivals.push({ at, by: 'neighbour', permitId: undefined, transitMs: 0, status: 0 }) - 1
    const status = await this.#vendor(url, { ...init, signal: this.#clock.deadline(NEIGHBOUR_MS) }).then(
      answer => answer.status,
      () => 0,
    )
    this.arrivals[slot] = { at, by: 'neighbour', permitId: undefined, transitMs: 0, status }
    return status
  }

  async #carry(
    url: string,
    init: RequestInit & { signal: AbortSignal },
    permitId: string | undefined,
    heard: (arrival: Arrival) => void,
  ): Promise<Response> {
    if (this.#happens(this.#weather.unsentChance)) throw broken('ECONNREFUSED')
    const sentAt = this.#clock.now()
    const isLost = this.#happens(this.#weather.lostChance)
    await this.#clock.sleep(this.#transitMs())
    if (isLost) {
      this.lost.add(permitId)
      throw broken('ECONNRESET')
    }
    const at = this.#clock.now()
    const pending = this.#vendor(url, { ...init, signal: patienceOf(init.signal) })
    // Refused or not, it is counted the moment it arrives; what trouble then makes of the answer is known later.
    const slot = this.arrivals.push({ at, by: 'us', permitId, transitMs: at - sentAt, status: 0 }) - 1
    const response = await pending
    const arrival = { at, by: 'us' as const, permitId, transitMs: at - sentAt, status: response.status }
    this.arrivals[slot] = arrival
    await this.#clock.sleep(between(this.#random, 10, BACK_MS))
    heard(arrival)
    return response
  }

  #transitMs(): number {
    if (this.#happens(this.#weather.slowChance)) return between(this.#random, SLOW_MS.from, SLOW_MS.to)
    return between(this.#random, 10, this.#weather.transitMs)
  }

  #happens(chance: number): boolean {
    return this.#random.next() < chance
  }
}

/** Who has given up before the request arrived is not there to hang up on the vendor. */
function patienceOf(signal: AbortSignal): AbortSignal {
  return signal.aborted ? new AbortController().signal : signal
}
