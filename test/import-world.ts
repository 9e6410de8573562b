// Athletes with a simulated history and everything that imports it, on virtual time: days pass in seconds. Strava unless said.
import assert from 'node:assert/strict'
import { Accounts, Connections, SecretBox } from '../src/accounts/accounts.ts'
import { Activities } from '../src/activities/activities.ts'
import { VirtualBell, type Bell } from '../src/bell/bell.ts'
import { Calls, type CallsParts } from '../src/calls/calls.ts'
import type { Database } from '../src/db/db.ts'
import { Inbox } from '../src/inbox/inbox.ts'
import { Imports, type ImportView, type ImportsParts } from '../src/imports/imports.ts'
import type { ImportStatus } from '../src/imports/job-lifecycle.ts'
import { IMPORT_BELL } from '../src/imports/worker.ts'
import { VirtualClock } from '../src/kernel/clock.ts'
import { idMaker } from '../src/kernel/ids.ts'
import { seeded } from '../src/kernel/random.ts'
import { Slots } from '../src/kernel/slots.ts'
import type { BudgetCache } from '../src/quota/quota.ts'
import { Quota, type QuotaSettings } from '../src/quota/quota.ts'
import { SleepIngest } from '../src/sleep/sleep.ts'
import { RowLock, Streams } from '../src/streams/streams.ts'
import { openSimulator, type Simulator, type SimulatorOptions, type VendorState } from '../src/simulator/simulator.ts'
import { openVendor, type OpenVendor, type VendorName } from '../src/vendors/vendors.ts'
import { consent, type Decision } from './consent.ts'

export const QUARTER_MS = 900_000
export const GUARD_MS = 3_000
const STEP_MS = 10_000
const SIMULATOR = 'http://simulator.test'
const secrets = { adminToken: 'the-admin-token', ingestToken: 'the-ingest-token' }
const settings: QuotaSettings = { buffer: 0.05, guardMs: GUARD_MS, liveReserve: 100, backfillYield: 20 }

export interface WorldOptions {
  readonly activities: number
  readonly nights?: number
  readonly checkinDays?: number
  /** Whom the athletes connect to. */
  readonly vendor?: VendorName
  readonly startsAt?: number
  readonly settings?: Partial<QuotaSettings>
  readonly pollMinutes?: number
  /** How closely a test looks on; each look costs a query. */
  readonly stepMs?: number
  readonly limits?: SimulatorOptions['limits']
  /** How long the vendor takes for an answer; none unless said. */
  readonly latencyMs?: number
  /** The athletes'; Berlin unless said. */
  readonly timezone?: string
}

export interface ProcessOptions {
  /** Decides first, as Redis does. */
  readonly cache?: BudgetCache
  /** Its bells for the end of a pause come to nothing. */
  readonly forgets?: boolean
  /** Works off streams too, as the whole program does. */
  readonly withStreams?: boolean
}

export interface Process {
  readonly imports: Imports
  readonly inbox: Inbox
  readonly connections: Connections
  start(): Promise<void>
  stop(): Promise<void>
  /** As `kill -9`, or frozen: from now on nothing of it reaches the vendor or the store. */
  die(): void
  /** It was only frozen: what it had under way goes on. */
  revive(): void
}

/** One metered request that reached the vendor. */
export interface Asked {
  readonly at: number
  readonly path: string
}

/** Every query of the store is waited for before time moves on. */
export function tracked(database: Database, clock: VirtualClock, gate: () => Promise<void> = () => Promise.resolve()): Database {
  const passing = async <T>(work: () => Promise<T>): Promise<T> => {
    await gate()
    return await clock.track(work())
  }
  return {
    kind: database.kind,
    query: <T>(text: string, values?: readonly unknown[]) => passing(() => database.query<T>(text, values)),
    script: text => passing(() => database.script(text)),
    notify: (channel, payload) => passing(() => database.notify(channel, payload)),
    transaction: (work, options) => passing(() => database.transaction(work, options)),
    listen: (channel, listener) => passing(() => database.listen(channel, listener)),
    close: () => clock.track(database.close()),
  }
}

/** Closed while its process is dead. */
export class Gate {
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

export class ImportWorld {
  readonly clock: VirtualClock
  readonly simulator: Simulator
  readonly activities: Activities
  readonly database: Database
  readonly asked: Asked[] = []
  readonly #plain: Database
  readonly #options: WorldOptions
  readonly #random = seeded(7)
  readonly #newId
  /** What the vendor sends by itself. */
  onWebhook: (request: Request) => Promise<void> = () => Promise.resolve()
  /** Hears of what an import found that was not here before. */
  onNews: ImportsParts['onNews'] = () => Promise.resolve()
  /** Hears of every answer before its process does. */
  onAnswer: (path: string) => void = () => undefined
  /** What becomes of an answer on its way. */
  onItsWay: (path: string, response: Response) => Promise<Response> = (_, response) => Promise.resolve(response)
  /** The first athlete that connected. */
  athleteId = ''

  constructor(database: Database, options: WorldOptions) {
    this.#options = options
    this.#plain = database
    this.clock = new VirtualClock(options.startsAt ?? Date.UTC(2026, 2, 10, 6, 1))
    this.#newId = idMaker(this.clock, this.#random)
    this.database = tracked(database, this.clock)
    const { activities, nights = 1, checkinDays, limits } = options
    const send = async (request: Request): Promise<Response> => {
      await this.onWebhook(request)
      return new Response()
    }
    const world = {
      clock: this.clock,
      activities,
      nights,
      publicUrl: SIMULATOR,
      send,
      webhooksUrl: 'http://paceline.test/webhooks',
    }
    this.simulator = openSimulator({ ...world, ...(limits && { limits }), ...(checkinDays !== undefined && { checkinDays }) })
    this.activities = new Activities({ database: this.database, clock: this.clock, newId: this.#newId })
  }

  /** Another process's, as far as the store can tell. */
  process({ cache, forgets = false, withStreams = false }: ProcessOptions = {}): Process {
    const gate = new Gate()
    const database = tracked(this.#plain, this.clock, gate.pass)
    const parts = { database, clock: this.clock, newId: this.#newId, random: this.#random }
    const quota = new Quota({ ...parts, settings: { ...settings, ...this.#options.settings }, cache, serverTime: false })
    const known = openVendor(this.vendorName, {
      clientId: '1',
      clientSecret: 'secret',
      baseUrl: `${SIMULATOR}/${this.vendorName}`,
    })
    const vendor = (name: VendorName): OpenVendor | undefined => (name === this.vendorName ? known : undefined)
    const connections = new Connections({
      ...parts,
      calls: this.#calls(parts, quota, gate),
      box: new SecretBox([Buffer.alloc(32, 1)], this.#random),
      vendor,
      publicUrl: () => 'http://paceline.test',
    })
    const bell = new VirtualBell(this.clock)
    const imports = new Imports({
      ...parts,
      bell: forgets ? forgetful(bell, this.clock) : bell,
      accounts: new Accounts({ ...parts, secrets }),
      connections,
      activities: new Activities(parts),
      ingest: new SleepIngest(parts),
      quota,
      vendor,
      onNews: (...news) => this.onNews(...news),
      pollMinutes: this.#options.pollMinutes ?? 43_200,
    })
    const lock = new RowLock(parts)
    const streams = new Streams({ ...parts, bell, connections, quota, vendor, lock, settleMs: 0, order: 'newest' })
    const erasure = { deauthorised: () => Promise.resolve(undefined) }
    const inbox = new Inbox({ ...parts, connections, erasure, imports, streams, vendor })
    const schedules = [...imports.schedules(), ...(withStreams ? streams.schedules() : [])]
    const workers = [imports.work(), ...(withStreams ? [streams.work()] : [])]
    return {
      imports,
      inbox,
      connections,
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

  /** Runs `play` on virtual time. */
  async run<T>(play: () => Promise<T>): Promise<T> {
    return await this.clock.runUntil(play())
  }

  /** A new athlete; the vendor's is the one it made last. */
  async connect({ connections }: Process, decision: Decision = {}): Promise<string> {
    const accounts = new Accounts({
      database: this.database,
      clock: this.clock,
      random: this.#random,
      newId: this.#newId,
      secrets,
    })
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

  /** The newest import of an athlete. */
  async newest({ imports }: Pick<Process, 'imports'>, athleteId = this.athleteId): Promise<ImportView> {
    const [view] = await imports.list(athleteId, { after: undefined, limit: 1 })
    assert(view, 'there is no import')
    return view
  }

  /** Runs until the newest import is in one of these states. */
  async until(process: Process, statuses: readonly ImportStatus[], athleteId = this.athleteId): Promise<ImportView> {
    const newest = 'select status from import_jobs where athlete_id = $1 order by id desc limit 1'
    for (;;) {
      const [job] = await this.database.query<{ status: ImportStatus }>(newest, [athleteId])
      if (job !== undefined && statuses.includes(job.status)) return await this.newest(process, athleteId)
      await this.clock.sleep(this.#options.stepMs ?? STEP_MS)
    }
  }

  async untilDone(process: Process, athleteId = this.athleteId): Promise<ImportView> {
    return await this.until(process, ['completed', 'failed'], athleteId)
  }

  async untilPaused(process: Process): Promise<ImportView> {
    return await this.until(process, ['rate_limited'])
  }

  get vendorName(): VendorName {
    return this.#options.vendor ?? 'strava'
  }

  get vendor(): VendorState {
    return this.simulator.control.state()[this.vendorName]
  }

  /** What arrived at the vendor, by path: `/athlete/activities`, `/activities/1`, `/activities/1/photos`. */
  requests(path: RegExp): string[] {
    return this.asked.filter(one => path.test(one.path)).map(one => one.path)
  }

  #calls(parts: Pick<CallsParts, 'clock' | 'random'>, quota: Quota, gate: Gate): Calls {
    const slots = new Slots(4)
    return new Calls({
      ...parts,
      fetch: async (url, init) => {
        await gate.pass()
        const path = new URL(url).pathname.replace(`/${this.vendorName}`, '').replace('/api/v3', '')
        if (!path.endsWith('/oauth/token')) this.asked.push({ at: this.clock.now(), path })
        if (this.#options.latencyMs !== undefined) await this.clock.sleep(this.#options.latencyMs)
        const response = await this.simulator.fetch(url, init)
        this.onAnswer(path)
        return await this.onItsWay(path, response)
      },
      permits: quota.take,
      slots: () => slots,
    })
  }
}

/** Loses what is to ring later, as a bell that forgot with its process does; what rings at once is heard. */
function forgetful(bell: VirtualBell, clock: VirtualClock): Bell {
  return {
    service: bell.service,
    answer: (name, answer) => {
      bell.answer(name, answer)
    },
    ring: async (name, key, at) => {
      if (name !== IMPORT_BELL || at <= clock.now()) await bell.ring(name, key, at)
    },
  }
}
