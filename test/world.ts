// A world on virtual time: simulated vendors, a store, athletes who connect, and processes of ours that can die. Days pass in seconds. What
// the processes work at, a world of imports or of streams says.
import assert from 'node:assert/strict'
import type { Connections } from '../src/accounts/accounts.ts'
import type { Activities } from '../src/activities/activities.ts'
import { VirtualBell } from '../src/bell/bell.ts'
import type { Fetch } from '../src/calls/calls.ts'
import type { Database, Query } from '../src/db/db.ts'
import { VirtualClock } from '../src/kernel/clock.ts'
import { idMaker, type NewId } from '../src/kernel/ids.ts'
import { seeded } from '../src/kernel/random.ts'
import type { Service } from '../src/kernel/service.ts'
import type { QuotaSettings } from '../src/quota/quota.ts'
import type { Rooms } from '../src/rooms.ts'
import {
  openSimulator,
  type Simulator,
  type SimulatorOptions,
  type VendorName,
  type VendorState,
} from '../src/simulator/simulator.ts'
import { consent, type Decision } from './consent.ts'
import { DAY_MS } from './durations.ts'
import { QUOTA, roomsOn, simulatedVendor, SIMULATOR_URL, type Given } from './rooms.ts'

export interface WorldBase {
  /** Whom the athletes connect to; Strava unless said. */
  readonly vendor?: VendorName
  readonly startsAt?: number
  readonly settings?: Partial<QuotaSettings>
  readonly limits?: SimulatorOptions['limits']
  /** How long the vendor takes for an answer, or for each; no time unless said. */
  readonly latencyMs?: number | (() => number)
  /** The athletes'; Berlin unless said. */
  readonly timezone?: string
}

export interface Process extends Rooms {
  start(): Promise<void>
  stop(): Promise<void>
  /** As `kill -9`, or frozen: from now on nothing of it reaches the vendor or the store. */
  die(): void
  /** It was only frozen: what it had under way goes on. */
  revive(): void
}

/** What a process works at. */
interface Works {
  readonly services: readonly Service[]
  readonly schedules: readonly (() => Promise<void>)[]
}

/** No history here takes so long: who waits longer waits for ever, because schedules go on ringing. */
export const LONGEST_MS = 60 * DAY_MS

export abstract class World {
  readonly clock: VirtualClock
  readonly simulator: Simulator
  readonly database: Database
  readonly activities: Activities
  readonly vendorName: VendorName
  readonly #plain: Database
  readonly #options: WorldBase
  readonly #random = seeded(7)
  readonly #newId: NewId
  #isPlaying = false
  /** What the vendor sends by itself. */
  onWebhook: (request: Request) => Promise<void> = () => Promise.resolve()
  /** What becomes of an answer on its way. */
  onItsWay: (path: string, response: Response) => Promise<Response> = (_, response) => Promise.resolve(response)
  /** The first athlete that connected. */
  athleteId = ''
  /** How many queries the processes have made outside transactions. */
  statements = 0

  constructor(database: Database, options: WorldBase, simulated: Omit<SimulatorOptions, 'clock'>) {
    this.#options = options
    this.#plain = database
    this.vendorName = options.vendor ?? 'strava'
    this.clock = new VirtualClock(options.startsAt ?? Date.UTC(2026, 2, 10, 6, 1))
    this.#newId = idMaker(this.clock, this.#random)
    this.database = tracked(database, this.clock)
    const send = async (request: Request): Promise<Response> => {
      await this.onWebhook(request)
      return new Response()
    }
    const { limits } = options
    this.simulator = openSimulator({ clock: this.clock, publicUrl: SIMULATOR_URL, send, ...(limits && { limits }), ...simulated })
    this.activities = roomsOn({ database: this.database, clock: this.clock, newId: this.#newId }).activities
  }

  /** Hears of every request before the vendor does. */
  protected abstract asks(path: string, url: URL): void

  /** Hears of every answer before its process does, which waits for what is done about it. */
  protected abstract answers(path: string): void | Promise<void>

  /** Another process's, as far as the store can tell. */
  protected open(given: Partial<Given>, worksAt: (rooms: Rooms) => Works): Process {
    const gate = new Gate()
    const { bell = new VirtualBell(this.clock), settings } = given
    const known = simulatedVendor(this.vendorName)
    const rooms = roomsOn({
      clock: this.clock,
      random: this.#random,
      newId: this.#newId,
      database: this.#own(tracked(this.#plain, this.clock, gate.pass)),
      fetch: this.#fetch(gate),
      vendor: name => (name === this.vendorName ? known : undefined),
      ...given,
      bell,
      settings: { quota: { ...QUOTA, ...this.#options.settings }, ...settings },
    })
    const { services: workers, schedules } = worksAt(rooms)
    return {
      ...rooms,
      start: async () => {
        for (const worker of workers) await worker.start()
        await bell.service.start()
        for (const ringFirst of schedules) await ringFirst()
      },
      stop: async () => {
        await bell.service.stop()
        for (const worker of workers) await worker.stop()
      },
      die: () => {
        gate.close()
      },
      revive: () => {
        gate.open()
      },
    }
  }

  /** Counts, and is deaf outside the play: a process that nobody stopped must not meddle with the next world of the same store. */
  #own(database: Database): Database {
    const query: Database['query'] = (...asked) => {
      this.statements++
      return database.query(...asked)
    }
    const listen: Database['listen'] = (channel, listener) =>
      database.listen(channel, payload => {
        if (this.#isPlaying) listener(payload)
      })
    return { ...database, query, listen }
  }

  /** Runs `play` on virtual time. */
  async run<T>(play: () => Promise<T>): Promise<T> {
    this.#isPlaying = true
    try {
      return await this.clock.runUntil(play())
    } finally {
      this.#isPlaying = false
    }
  }

  /** A new athlete; the vendor's is the one it made last. */
  async connect({ accounts, connections }: Process, decision: Decision = {}): Promise<string> {
    const { id } = await accounts.createAthlete({ name: 'Ada', timezone: this.#options.timezone ?? 'Europe/Berlin' })
    this.athleteId ||= id
    await this.consent(connections, id, decision)
    return id
  }

  async consent(connections: Connections, athleteId = this.athleteId, decision: Decision = {}): Promise<void> {
    const authorizeUrl = String(await connections.start(athleteId, this.vendorName))
    const back = await consent((url, init) => this.simulator.fetch(url, init), authorizeUrl, decision)
    const outcome = await connections.finish(this.vendorName, Object.fromEntries(back.searchParams))
    assert.equal(outcome.outcome, 'connected')
  }

  get vendor(): VendorState {
    return this.simulator.control.state()[this.vendorName]
  }

  /** Paths as the vendor's pages name them: `/athlete/activities`, `/activities/1`, `/activities/1/photos`. */
  #fetch(gate: Gate): Fetch {
    return async (url, init) => {
      await gate.pass()
      const asked = new URL(url)
      const path = asked.pathname.replace(`/${this.vendorName}`, '').replace('/api/v3', '')
      this.asks(path, asked)
      const { latencyMs } = this.#options
      if (latencyMs !== undefined) await this.clock.sleep(typeof latencyMs === 'number' ? latencyMs : latencyMs())
      const response = await this.simulator.fetch(url, init)
      await this.answers(path)
      return await this.onItsWay(path, response)
    }
  }
}

/** Every query of the store is waited for before time moves on. */
export function tracked(database: Database, clock: VirtualClock, gate: () => Promise<void> = () => Promise.resolve()): Database {
  const passing = async <T>(work: () => Promise<T>): Promise<T> => {
    await gate()
    return await clock.track(work())
  }
  return {
    kind: database.kind,
    query: <T>(query: string | Query, values?: readonly unknown[]) => passing(() => database.query<T>(query, values)),
    script: text => passing(() => database.script(text)),
    notify: (channel, payload) => passing(() => database.notify(channel, payload)),
    transaction: (work, options) => passing(() => database.transaction(work, options)),
    listen: async (channel, listener) => {
      const deaf = await passing(() => database.listen(channel, listener))
      return () => clock.track(deaf())
    },
    close: () => clock.track(database.close()),
  }
}

/** Closed while its process is dead. */
class Gate {
  #closed: PromiseWithResolvers<void> | undefined

  readonly pass = async (): Promise<void> => {
    await this.#closed?.promise
  }

  close(): void {
    this.#closed = Promise.withResolvers()
  }

  open(): void {
    this.#closed?.resolve()
    this.#closed = undefined
  }
}
