// What the contracts of streams share: a store that is emptied for each test, and a vendor that allows much or little.
import type { Database } from '../../src/db/db.ts'
import type { StreamsStored } from '../../src/events/events.ts'
import { hear, type Diagnostics } from '../../src/kernel/channels.ts'
import { LedgerBudget } from '../../src/quota/budget-ledger.ts'
import { MemoryBudget } from '../memory-budget.ts'
import { StreamWorld, type StreamProcess, type StreamRow, type StreamWorldOptions } from '../stream-world.ts'
import { emptiedStore } from './emptied-store.ts'

export const WIDE = { limits: { read: [5_000, 50_000], overall: [5_000, 50_000] } } as const

/** What the log line of an attempt holds, in this order. */
export const LOG_FIELDS = [
  'activity_id',
  'athlete_id',
  'status',
  'channels_fetched',
  'point_count',
  'error',
  'retry_count',
  'duration_ms',
  'rate_budget_remaining',
]

/** Where the vendor's streams are. */
export const STREAMS = '/api/v3/activities/{id}/streams'

/** Opens a store for the suite it is called in; gives the way to a world in it. */
export function streamWorlds(open: () => Promise<Database>): (options: StreamWorldOptions) => Promise<StreamWorld> {
  const emptied = emptiedStore(open)
  return async options => new StreamWorld(await emptied(), options)
}

export async function eventsOf(the: StreamWorld): Promise<StreamsStored[]> {
  const rows = await the.database.query<{ payload: StreamsStored }>(
    "select payload from outbox where subject = 'athlete-ally.activity.streams-stored' order by id",
  )
  return rows.map(({ payload }) => payload)
}

/** A budget that decides first, as Redis does, and can be away. */
export function awayable(the: StreamWorld) {
  const ledger = new LedgerBudget({ database: the.database, clock: the.clock })
  const budget = new MemoryBudget({ clock: the.clock, ledger })
  return Object.assign(budget, {
    refill: () => {
      budget.wipe()
      return Promise.resolve()
    },
  })
}

/** Spends what the present window allows, but for `left` calls. */
export async function drained({ quota }: StreamProcess, left: number): Promise<void> {
  const need = { vendor: 'strava', endpoint: 'activity-detail', callClass: 'live', athleteId: undefined } as const
  const cost = ['read', 'overall'].map(pool => ({ pool, units: 1 }))
  for (;;) {
    const { pools } = await quota.vendorState('strava')
    const read = pools.find(({ pool }) => pool === 'read')?.windows[0]
    if (read === undefined || read.remaining <= left) return
    const answer = await quota.take({ ...need, cost })
    if (answer.outcome === 'granted') {
      await answer.permit.settle({ outcome: 'ok', status: 200, report: undefined, refusal: undefined })
    }
  }
}

/** A connected athlete with a listed history, and its newest activity that was recorded. */
export async function listed(the: StreamWorld, process: StreamProcess): Promise<StreamRow> {
  await the.connect(process)
  return await the.newest()
}

/** What was told of attempts meanwhile. */
export async function heard<T>(work: () => Promise<T>): Promise<Diagnostics['paceline:stream-fetch'][]> {
  const facts: Diagnostics['paceline:stream-fetch'][] = []
  const end = hear('paceline:stream-fetch', fact => facts.push(fact))
  try {
    await work()
  } finally {
    end()
  }
  return facts
}
