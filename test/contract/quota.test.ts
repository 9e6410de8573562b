// The budget in memory and in the embedded store, and what the model itself promises: however the vendor's clock and the way there
// err, no window receives more than it allows.
import { after, test } from 'node:test'
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { idMaker } from '../../src/kernel/ids.ts'
import { seeded } from '../../src/kernel/random.ts'
import { LedgerBudget } from '../../src/quota/budget-ledger.ts'
import type { Ticket } from '../../src/quota/budget.ts'
import { Limiter } from '../../src/quota/limiter.ts'
import { MemoryBudget } from '../memory-budget.ts'
import { openMigrated } from '../stores.ts'
import { budgetAgreement, movedBy, SMALL, spentOf, stepsOf, type Step } from './quota-agreement.contract.ts'
import {
  ADA,
  BOB,
  DAY,
  GUARD,
  MINUTE,
  QUARTER,
  read,
  SetClock,
  SETTINGS,
  SOON,
  START,
  times,
  ok,
  type BudgetRig,
} from './quota-fixture.ts'
import { budgetContract } from './quota.contract.ts'

const memory = (): Promise<BudgetRig> => {
  const budget = new MemoryBudget({ clock: new SetClock(START) })
  return Promise.resolve({
    budget: clock => budget.another({ clock }),
    forget: () => {
      budget.wipe()
      return Promise.resolve()
    },
    close: () => Promise.resolve(),
  })
}

// One store for all: opening one takes longer than most tests.
const database = await openMigrated()
after(() => database.close())
await database.query(`insert into athlete (id, name, created_at) select id, 'Ada', now() from unnest($1::uuid[]) as id`, [
  [ADA, BOB],
])

const pglite = (): Promise<BudgetRig> =>
  Promise.resolve({
    budget: clock => new LedgerBudget({ database, clock }),
    forget: async () => {
      await database.script('delete from api_requests; delete from quota_window; delete from quota_learned')
    },
    close: () => Promise.resolve(),
  })

budgetContract('memory', memory, { endsOnce: false })
budgetContract('pglite', pglite, { endsOnce: true })
budgetAgreement('pglite', pglite, { runs: 30, length: 40 })

test('a wiped model is refilled from the ledger before it grants anything, and one that is away is unavailable', async () => {
  await (await pglite()).forget()
  const clock = new SetClock(START)
  const ledger = new LedgerBudget({ database, clock })
  const copy = new MemoryBudget({ clock, ledger })
  const [truth, limiter] = [new Limiter(ledger, SETTINGS, SOON), new Limiter(copy, SETTINGS, SOON)]
  const newId = idMaker(clock, seeded(4))
  const first = await truth.ask(newId(), times(read, 5))
  assert(first.outcome === 'granted')
  await truth.settle(first.ticket, ok({ pools: { read: [{ windowSeconds: 900, limit: 60, used: 20 }] } }))
  await truth.ask(newId(), times(read, 7))
  for (let n = 0; n < 2; n++) {
    copy.wipe()
    assert.deepEqual({ ...(await limiter.ask('a', read)), ticket: 0 }, { outcome: 'granted', remaining: 57 - 27 - 1, ticket: 0 })
  }
  clock.at = START + QUARTER
  copy.wipe()
  assert.deepEqual({ ...(await limiter.ask('b', read)), ticket: 0 }, { outcome: 'granted', remaining: 57 - 7 - 1, ticket: 0 })
  copy.away = true
  assert.deepEqual(await limiter.ask('c', read), { outcome: 'unavailable' })
})

/** A call that left, and when it can have reached the vendor, by the vendor's clock. */
interface Sent {
  readonly ticket: Ticket
  readonly earliest: number
  latest: number
}

/** Two processes at work; every request that left. The vendor's limits stay as they are, and it refuses nothing: that would only stop calls. */
async function sentIn(steps: readonly Step[]): Promise<Sent[]> {
  const clock = new SetClock(START)
  const budget = new MemoryBudget({ clock })
  const limiters = [budget, budget.another()].map(one => new Limiter(one, SMALL, SOON))
  const [sent, underWay]: [Sent[], { limiter: Limiter; call: Sent }[]] = [[], []]
  for (const step of steps) {
    clock.at = movedBy(step, clock.at)
    if (step.do === 'take') {
      const limiter = limiters[step.limiter]
      const answer = await limiter?.ask('id', step.need)
      if (limiter === undefined || answer?.outcome !== 'granted') continue
      const guardMs = step.need.vendor === 'strava' ? GUARD : 0
      const call = { ticket: answer.ticket, earliest: clock.at - guardMs, latest: clock.at + guardMs }
      sent.push(call)
      underWay.push({ limiter, call })
    } else if (step.do === 'settle' || step.do === 'giveBack') {
      const [ended] = underWay.splice(step.nth % Math.max(1, underWay.length), 1)
      if (ended === undefined) continue
      const { limiter, call } = ended
      if (step.do === 'settle') {
        const windows = step.answer.windows.map(({ used = 0 }) => ({ used }))
        await limiter.settle(call.ticket, spentOf({ windows, refusal: undefined }, call.ticket.plan, clock.at))
        // Under way for so long it may have arrived at any time; nobody waits longer than the settings say.
        const shortestMs = Math.min(...call.ticket.plan.charges.map(({ meter }) => meter.windowMs))
        if (clock.at - call.ticket.at < Math.min(shortestMs, SMALL.underWayMs ?? 0)) call.latest = Math.max(call.latest, clock.at)
      } else {
        sent.splice(sent.indexOf(call), 1)
        await limiter.giveBack(call.ticket)
      }
    }
  }
  return sent
}

const ALLOWED = [
  { vendor: 'strava', pool: 'read', windowMs: QUARTER, most: 11 },
  { vendor: 'strava', pool: 'read', windowMs: DAY, most: 19 },
  { vendor: 'strava', pool: 'overall', windowMs: QUARTER, most: 15 },
  { vendor: 'strava', pool: 'overall', windowMs: DAY, most: 26 },
  // Half of what is allowed where windows roll: no span of that length touches more than two of these.
  { vendor: 'whoop', pool: 'app', windowMs: MINUTE, most: 2 },
  { vendor: 'foursquare', pool: 'users', windowMs: 4 * QUARTER, most: 2 },
] as const

/** The most that can reach the vendor in one of its windows. */
function mostArrivals(sent: readonly Sent[], { vendor, pool, windowMs }: (typeof ALLOWED)[number]): number {
  const arrivals = new Map<string, number>()
  for (const { ticket, earliest, latest } of sent) {
    const { need, charges } = ticket.plan
    const { meter, units } = charges.find(one => one.meter.pool === pool && one.meter.windowMs === windowMs) ?? {}
    if (need.vendor !== vendor || meter === undefined) continue
    for (let id = Math.floor(earliest / windowMs); id <= Math.floor(latest / windowMs); id++) {
      const window = `${meter.scope} ${id}`
      arrivals.set(window, (arrivals.get(window) ?? 0) + (units ?? 0))
    }
  }
  return Math.max(0, ...arrivals.values())
}

test('no window of a vendor receives more than it allows, whenever within the guard band calls arrive', async () => {
  const met = new Set<object>()
  const property = fc.asyncProperty(stepsOf(100), async steps => {
    const sent = await sentIn(steps)
    for (const window of ALLOWED) {
      const most = mostArrivals(sent, window)
      assert(most <= window.most, `${most} in ${window.vendor} ${window.pool}:${window.windowMs}`)
      if (most === window.most) met.add(window)
    }
  })
  await fc.assert(property, { numRuns: 300, seed: 11 })
  assert.equal(met.size, ALLOWED.length, 'every limit was met by some sequence')
})
