// What happens in a simulated world, all of it from the seed: backfill that always has work, people who wait, most of all around the edges
// of windows, a vendor in trouble, processes that die, a budget server that forgets, a neighbour who spends the same quota.
import type { VirtualClock } from '../../src/kernel/clock.ts'
import { between, type Random } from '../../src/kernel/random.ts'
import type { Control, Fault } from '../../src/simulator/simulator.ts'
import type { OAuthSession } from '../../src/simulator/oauth-client.ts'
import { openVendor, type VendorRequest } from '../../src/vendors/vendors.ts'
import { DAY_MS, QUARTER_MS } from '../durations.ts'
import type { CacheServer } from './budget-cache.ts'
import type { Process } from './process.ts'
import type { Wire } from './wire.ts'

export const SIMULATOR = 'http://simulator.test'

export interface Athlete {
  readonly id: string
  readonly session: OAuthSession
  readonly activities: readonly string[]
}

const strava = openVendor('strava', { clientId: '4711', clientSecret: 's', baseUrl: `${SIMULATOR}/strava` }).endpoints

export const pick = <T>(random: Random, list: readonly T[]): T => {
  const found = list[between(random, 0, list.length - 1)]
  if (found === undefined) throw new Error('there is nothing to pick from')
  return found
}

function authorised<T>(request: VendorRequest<T>, { session }: Athlete): VendorRequest<T> {
  return { ...request, headers: { ...request.headers, authorization: `Bearer ${session.accessToken}` } }
}

function detail(athlete: Athlete, random: Random): VendorRequest<unknown> {
  return authorised(strava.activityPhotos(pick(random, athlete.activities)), athlete)
}

function update(athlete: Athlete, random: Random): VendorRequest<unknown> {
  const name = `Walk ${between(random, 1, 1_000_000)}`
  return authorised(strava.updateActivity(pick(random, athlete.activities), { name }), athlete)
}

/** Works for one athlete as long as its process lives. */
export async function backfill(process: Process, athlete: Athlete, random: Random): Promise<void> {
  for (;;) {
    const outcome = await process.call(detail(athlete, random), { callClass: 'backfill', athleteId: athlete.id })
    const isRefused = outcome.outcome === 'no_permit' || outcome.outcome === 'rate_limited'
    const until = outcome.outcome === 'no_permit' ? outcome.refusal?.resetAt : isRefused ? outcome.retryAt : undefined
    const restMs = isRefused ? (until ?? process.clock.now() + 5_000) - process.clock.now() : 0
    await process.clock.sleep(Math.max(restMs, between(random, 20, 200)))
  }
}

export interface Live {
  readonly clock: VirtualClock
  readonly random: Random
  readonly athletes: readonly Athlete[]
  /** A living process. */
  readonly process: () => Process
  readonly untilAt: number
  /** Of the vendor: what is asked grows with it. */
  readonly limit: number
  /** Goes on by itself. */
  readonly happen: (work: Promise<void>) => void
}

const isUpdate = (random: Random): boolean => random.next() < 0.2

async function liveCall({ random, athletes, process }: Live): Promise<void> {
  const athlete = pick(random, athletes)
  const request = isUpdate(random) ? update(athlete, random) : detail(athlete, random)
  await process().call(request, { callClass: 'live', athleteId: athlete.id })
}

/** Some 150 a day at a limit of 100 in a quarter. */
const LIVE_PAUSE_MS = 2_000 * 60_000

/** Somebody asks now and then, the whole day long. */
export async function liveCalls(live: Live): Promise<void> {
  while (live.clock.now() < live.untilAt) {
    await live.clock.sleep(between(live.random, 1_000, LIVE_PAUSE_MS / live.limit))
    live.happen(liveCall(live))
  }
}

const EDGE_CHANCE = 0.2
const RUSH_CHANCE = 0.3
const CLUSTER_MS = 4_500
const RUSH_MS = 10_000

/** Many ask at once where it is hardest to tell which window they are counted in; sometimes more than a window has room for. */
export async function clusters(live: Live): Promise<void> {
  const { clock, random, untilAt, limit } = live
  for (let edge = nextEdge(clock.now()); edge < untilAt; edge += QUARTER_MS) {
    await clock.sleep(edge - RUSH_MS - clock.now())
    const isMidnight = edge % DAY_MS === 0
    if (!isMidnight && random.next() >= EDGE_CHANCE) continue
    const isRush = random.next() < RUSH_CHANCE
    const count = between(random, 1, Math.ceil(isRush ? 3 * limit : isMidnight ? 0.04 * limit : 0.14 * limit))
    live.happen(cluster(live, count, edge, isRush ? RUSH_MS : CLUSTER_MS))
  }
}

const nextEdge = (instant: number): number => (Math.floor(instant / QUARTER_MS) + 1) * QUARTER_MS

async function cluster(live: Live, count: number, around: number, withinMs: number): Promise<void> {
  const starts = Array.from({ length: count }, () => around + between(live.random, -withinMs, withinMs))
  for (const start of starts.toSorted((one, other) => one - other)) {
    await live.clock.sleep(start - live.clock.now())
    live.happen(liveCall(live))
  }
}

/** Tokens live six hours; whoever has one keeps it fresh, which costs nothing. */
export async function refreshing(clock: VirtualClock, sessions: readonly OAuthSession[], untilAt: number): Promise<void> {
  while (clock.now() < untilAt) {
    await clock.sleep(5.5 * 3_600_000)
    for (const session of sessions) await session.refresh()
  }
}

const FAULTS: readonly Omit<Fault, 'vendor'>[] = [
  { kind: '5xx', probability: 0.01 },
  { kind: '597', probability: 0.005 },
  { kind: 'reset', probability: 0.005 },
  { kind: 'hang', probability: 0.003 },
  { kind: 'latency', probability: 0.05, ms: 900 },
  { kind: 'latency', probability: 0.01, ms: 6_000 },
  { kind: 'no_headers', probability: 0.03 },
  { kind: 'odd_headers', probability: 0.02 },
]

/** Of our own calls: tokens and the neighbour are spared. */
const ROUTES = ['GET /api/v3/activities/{id}/photos', 'PUT /api/v3/activities/{id}']
const everywhere = (faults: readonly Omit<Fault, 'vendor'>[]): Fault[] =>
  faults.flatMap(fault => ROUTES.map(route => ({ ...fault, route, vendor: 'strava' as const })))

/** A few faults always, and for some minutes now and then a vendor that says no counts at all. */
export async function faults(clock: VirtualClock, random: Random, control: Control, untilAt: number): Promise<void> {
  const usual = everywhere(FAULTS)
  control.setFaults(usual)
  while (clock.now() < untilAt) {
    await clock.sleep(between(random, 1, 10) * 3_600_000)
    control.clearFaults()
    control.setFaults([...everywhere([{ kind: pick(random, ['no_headers', 'odd_headers']) }]), ...usual])
    await clock.sleep(between(random, 1, 20) * 60_000)
    control.clearFaults()
    control.setFaults(usual)
  }
}

/** The budget server loses everything, or is gone for a while. */
export async function forgetting(
  { clock, random, untilAt }: Pick<Live, 'clock' | 'random' | 'untilAt'>,
  server: CacheServer,
  longestAwayMs: number,
): Promise<void> {
  while (clock.now() < untilAt) {
    await clock.sleep(between(random, 60_000, 8 * 3_600_000))
    if (random.next() < 0.5) server.wipe()
    else {
      server.absences += 1
      server.budget.away = true
      await clock.sleep(between(random, 1_000, longestAwayMs))
      if (random.next() < 0.5) server.wipe()
      server.budget.away = false
    }
  }
}

/** A small part of the deaths come in the middle of a busy moment: just after an edge. */
export async function deaths(
  { clock, random, untilAt }: Pick<Live, 'clock' | 'random' | 'untilAt'>,
  restart: () => void,
): Promise<void> {
  while (clock.now() < untilAt) {
    await clock.sleep(between(random, 60_000, 5 * 3_600_000))
    if (random.next() < 0.5) await clock.sleep(nextEdge(clock.now()) - clock.now() + between(random, -3_000, 20_000))
    restart()
  }
}

export interface Neighbourhood extends Pick<Live, 'clock' | 'random' | 'untilAt'> {
  readonly wire: Wire
  readonly session: OAuthSession
  /** How many more it may spend now without our knowing. */
  readonly room: () => number
}

/** Another program of the same application. It calls in spells, and never more at once than there is room for. */
export async function neighbour({ clock, random, untilAt, wire, session, room }: Neighbourhood): Promise<void> {
  const ask = async (): Promise<number> =>
    await wire.sendAsNeighbour(`${SIMULATOR}/strava/api/v3/athlete`, {
      headers: { authorization: `Bearer ${session.accessToken}` },
    })
  while (clock.now() < untilAt) {
    await clock.sleep(between(random, 1_000, random.next() < 0.7 ? 60_000 : 40 * 60_000))
    // Where a window begins is where we are busiest.
    if (random.next() < 0.6) await clock.sleep(nextEdge(clock.now()) - clock.now() + between(random, -2_000, 15_000))
    const pauseMs = random.next() < 0.5 ? 10 : 400
    for (let left = room(); left > 0; left--) {
      if ((await ask()) === 429) break
      await clock.sleep(between(random, 0, pauseMs))
    }
  }
}
