// The door: simulates the five vendors from their public documents, in-process (`fetch`) or over HTTP (`listen`), with a control
// API under /_sim/. It shares no rule with the engine: limits, payloads and quirks are its own. Time comes from the clock,
// randomness from the seed.
import { tell } from '../kernel/channels.ts'
import type { Clock } from '../kernel/clock.ts'
import { seeded, type Random } from '../kernel/random.ts'
import { json } from './answer.ts'
import { Clients, type Client } from './clients.ts'
import type { Limits, Quirks, SimulatorContext } from './context.ts'
import { controlRoutes, type ControlRoute } from './control-routes.ts'
import { controlOf, type Control } from './control.ts'
import { Faults } from './faults.ts'
import { Journal } from './journal.ts'
import { runLivingWorld } from './living-world.ts'
import { MovableClock } from './movable-clock.ts'
import { serve, type Reply } from './pipeline.ts'
import { findRoute, readFields, VENDORS, type Access, type Call, type Method, type VendorName } from './router.ts'
import { listen, toResponse, type Listening } from './transport.ts'
import { openVendors, vendorOf } from './vendors.ts'
import { WebhookSender, type Send } from './webhook-sender.ts'
import { World } from './world/world.ts'

export type { Control } from './control.ts'
export { FAULT_KINDS, type Fault, type FaultKind } from './faults.ts'
export type { SimulatorState, VendorState } from './journal.ts'
export { VENDORS, type VendorName } from './router.ts'
export type { Limits, Quirks } from './context.ts'
export type { Listening } from './transport.ts'

export interface SimulatorOptions {
  readonly clock: Clock
  readonly seed?: number
  /** For tokens, challenges and faults. The world depends on the seed alone. */
  readonly random?: Random
  readonly activities?: number
  readonly nights?: number
  /** How far back the check-ins go. */
  readonly checkinDays?: number
  readonly broken?: number
  readonly living?: boolean
  readonly limits?: Partial<Limits>
  readonly quirks?: Partial<Quirks>
  readonly bigIds?: boolean
  /**
   * Where events of applications that did not subscribe are sent: to `<this>/<vendor>`, or to `<this>/webhooks/<vendor>` when it has no
   * path.
   */
  readonly webhooksUrl?: string
  readonly signWebhooks?: boolean
  readonly garminPing?: boolean
  readonly clients?: Partial<Record<VendorName, readonly Client[]>>
  /** The address under which others reach the simulator. Without it, the one on which it listens. */
  readonly publicUrl?: string
  /** Sends webhooks. Without it, the platform's fetch does. */
  readonly send?: Send
  /** The history ends on the day before this instant. Without it, before the clock's now. */
  readonly beginsAt?: number
}

export interface RouteDescription {
  readonly vendor: VendorName
  readonly method: Method
  readonly template: string
  readonly access: Access
}

export interface Simulator {
  /** Answers in-process, as the platform's fetch does over a network. */
  readonly fetch: (input: Request | URL | string, init?: RequestInit) => Promise<Response>
  listen(address: { readonly host: string; readonly port: number }): Promise<Listening>
  readonly control: Control
  readonly routes: readonly RouteDescription[]
  /** Whether a request is for the control API, which the demo guards. Any other `/_sim/<vendor>/…` is for that vendor. */
  isControl(method: string, path: string): boolean
  /** Resolves when no webhook is under way any more. */
  settled(): Promise<void>
  close(): Promise<void>
}

const DEFAULT_LIMITS: Limits = {
  read: [100, 1000],
  overall: [200, 2000],
  oura: 5000,
  whoop: [100, 10_000],
  garmin: [100, 100],
  foursquare: 500,
}
const DEFAULT_ACTIVITIES = 700
const DEFAULT_NIGHTS = 90

export function openSimulator(options: SimulatorOptions): Simulator {
  const stop = new AbortController()
  const underway = new Set<Promise<void>>()
  const inBackground = (work: (signal: AbortSignal) => Promise<void>): void => {
    const running = work(stop.signal).catch((error: unknown) => {
      if (!stop.signal.aborted) tell('paceline:fault', { where: 'simulator', error })
    })
    const ended = running.finally(() => underway.delete(ended))
    underway.add(ended)
  }
  let listeningAt: string | undefined
  const context = contextOf(options, () => options.publicUrl ?? listeningAt ?? 'http://simulator.invalid')
  const vendors = openVendors(context, { isPing: options.garminPing ?? false, inBackground })
  const defaults = {
    activities: options.activities ?? DEFAULT_ACTIVITIES,
    nights: options.nights ?? DEFAULT_NIGHTS,
    broken: options.broken ?? 0,
    ...(options.checkinDays !== undefined && { checkinDays: options.checkinDays }),
  }
  context.world.addAthlete({ seed: options.seed ?? 1, ...defaults })
  const control = controlOf({ context, vendors, defaults })
  const controls = controlRoutes(control)
  if (options.living === true) inBackground(signal => runLivingWorld(context, vendors, signal))

  const respond = async (request: Request): Promise<Reply> => {
    const url = new URL(request.url)
    const found = findRoute(controls, request.method, url.pathname)
    if (found !== undefined)
      return { how: 'answer', answer: found.route.handle(await callOf(request, url.pathname, found.params)) }
    const [name, path] = splitVendorPath(url.pathname)
    if (name === undefined)
      return {
        how: 'answer',
        answer: json(404, { error: 'The simulator serves /strava, /garmin, /oura, /whoop, /foursquare and /_sim' }),
      }
    const vendor = vendorOf(vendors, name)
    const match = findRoute(vendor.routes, request.method, path)
    const call = await callOf(request, path, match?.params ?? {})
    return match === undefined
      ? { how: 'answer', answer: vendor.notFound(call) }
      : await serve(context, vendor, match.route, call)
  }
  return {
    fetch: async (input, init) => {
      const request = new Request(input, init)
      return await toResponse(await respond(request), request.signal)
    },
    listen: async address => {
      const listening = await listen(respond, address)
      listeningAt = listening.url
      return listening
    },
    control,
    routes: VENDORS.flatMap(name =>
      vendorOf(vendors, name).routes.map(({ vendor, method, template, access }) => ({ vendor, method, template, access })),
    ),
    isControl: (method, path) => isControl(controls, method, path),
    settled: async () => await context.webhookSender.settled(),
    close: async () => {
      stop.abort()
      await context.webhookSender.close()
      await Promise.all(underway)
    },
  }
}

function contextOf(options: SimulatorOptions, publicUrl: () => string): SimulatorContext {
  const seed = options.seed ?? 1
  const clock = new MovableClock(options.clock)
  const random = options.random ?? seeded(seed)
  const journal = new Journal(clock)
  const faults = new Faults(random)
  const clients = new Clients()
  for (const name of VENDORS) for (const client of options.clients?.[name] ?? []) clients.register(name, client)
  return {
    clock,
    random,
    journal,
    faults,
    clients,
    world: new World({ seed, beginsAt: options.beginsAt ?? clock.now(), bigIds: options.bigIds ?? false }),
    webhookSender: new WebhookSender({ clock, faults, journal, send: options.send ?? (request => fetch(request)) }),
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    quirks: { inclusiveBounds: false, refusedCountShort: true, ...options.quirks },
    signWebhooks: options.signWebhooks ?? false,
    publicUrl,
    portalUrl: name => (options.webhooksUrl === undefined ? undefined : receiverOf(options.webhooksUrl, name)),
  }
}

function receiverOf(webhooksUrl: string, vendor: VendorName): string {
  const url = new URL(webhooksUrl)
  url.pathname = `${url.pathname === '/' ? '/webhooks' : url.pathname.replace(/\/$/, '')}/${vendor}`
  return url.href
}

const callOf = async (request: Request, path: string, params: Readonly<Record<string, string>>): Promise<Call> => {
  const url = new URL(request.url)
  const { text, fields } = await readFields(request)
  return {
    method: request.method,
    url,
    path,
    query: url.searchParams,
    headers: request.headers,
    params,
    fields,
    text,
    signal: request.signal,
  }
}

/** The vendor of `/strava/api/v3/…` or `/_sim/strava/api/v3/…`, and the path as the vendor itself would see it. */
function splitVendorPath(pathname: string): [vendor: VendorName | undefined, path: string] {
  const [, name, rest = ''] = /^(?:\/_sim)?\/([^/]+)(\/.*)?$/.exec(pathname) ?? []
  return [VENDORS.find(vendor => vendor === name), rest]
}

function isControl(controls: readonly ControlRoute[], method: string, path: string): boolean {
  if (findRoute(controls, method, path) !== undefined) return true
  return path.startsWith('/_sim/') && splitVendorPath(path)[0] === undefined
}
