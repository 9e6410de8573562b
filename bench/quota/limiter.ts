// The call that is decided about (a Strava detail: two pools of two windows each), with limits that nothing reaches, and a limiter
// that has heard the vendor's count, so that its calls need not go in single file.
import { setTimeout as sleep } from 'node:timers/promises'
import type { NewId } from '../../src/kernel/ids.ts'
import type { Ticket } from '../../src/quota/budget.ts'
import type { QuotaSettings } from '../../src/quota/meters.ts'
import type { PermitNeed, Spent } from '../../src/quota/permit.ts'
import type { Limiter } from '../../src/quota/limiter.ts'

/** PostgreSQL counts in integers. */
export const ENDLESS = 2_000_000_000

export const need: PermitNeed = {
  vendor: 'strava',
  endpoint: 'activity-detail',
  cost: [
    { pool: 'read', units: 1 },
    { pool: 'overall', units: 1 },
  ],
  callClass: 'live',
  athleteId: undefined,
}

const names = ['read:15min', 'read:day', 'overall:15min', 'overall:day']

export const settings: QuotaSettings = {
  buffer: 0.05,
  guardMs: 2_000,
  liveReserve: 100,
  backfillYield: 20,
  limits: { strava: Object.fromEntries(names.map(name => [name, ENDLESS])) },
}

/** Its count is behind ours, as that of a vendor whose quota nobody else spends. */
export const spent: Spent = {
  outcome: 'ok',
  status: 200,
  report: { pools: { read: [{ windowSeconds: 900, used: 0 }] } },
  refusal: undefined,
}

/** Takes a permit; a refusal would be measured as a decision that is too cheap. */
export function taking(limiter: Limiter, newId: NewId, asked: PermitNeed = need): () => Promise<Ticket> {
  return async () => {
    const answer = await limiter.ask(newId(), asked)
    if (answer.outcome !== 'granted') throw new Error(`not granted: ${JSON.stringify(answer)}`)
    return answer.ticket
  }
}

const QUARTER_MS = 900_000

/** At the edge of a window calls are charged twice, and in a new one they go in single file again: not what is measured here. */
export async function awayFromEdges(forMs: number): Promise<void> {
  const intoMs = Date.now() % QUARTER_MS
  const fromMs = 2 * settings.guardMs
  if (intoMs < fromMs) await sleep(fromMs - intoMs)
  else if (intoMs + forMs > QUARTER_MS) {
    process.stderr.write('Waiting for the next quarter of an hour …\n')
    await sleep(QUARTER_MS - intoMs + fromMs)
  }
}
