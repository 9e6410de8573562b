// How much of each vendor's quota is left: for an athlete with their own token's pools, for the operator with who spent it.
import { z } from 'zod'
import { CALL_CLASSES, KEPT_DAYS, type VendorState, type VendorUsage } from '../../quota/quota.ts'
import { vendorNames, windowNames } from '../../vendors/vendors.ts'
import { count, errorAnswer, id, instant, listOf } from '../answers.ts'
import type { App, HttpParts } from '../app.ts'

const vendor = z.enum(vendorNames)
const windowName = z.enum(windowNames)

export const windowState = z.object({
  window: windowName,
  limit: count.describe('Calls that the vendor allows, as it last said'),
  allowed: count.describe('Calls that Paceline allows itself of these'),
  used: count.describe('Calls in the current window; never fewer than the vendor counted'),
  remaining: count,
  resetAt: instant,
  closed: z.boolean().describe('The vendor answered 429: nothing is sent until the window resets'),
})

const state = z.object({
  vendor,
  pools: z.array(z.object({ pool: z.string(), windows: z.array(windowState) })),
  nextBackfillAt: instant.nullable().describe('When backfill may go on; null: now'),
})

const usage = z.object({
  vendor,
  windows: z
    .array(z.object({ pool: z.string(), window: windowName, startsAt: instant, used: count }))
    .describe('Windows with calls; those shorter than 15 minutes only for today'),
  endpoints: z.array(
    z.object({
      endpoint: z.string(),
      class: z.enum(CALL_CLASSES),
      calls: count,
      refused: count.describe('Calls that the vendor answered with 429'),
    }),
  ),
  athletes: z
    .array(
      z.object({
        athleteId: id.nullable().describe('Null: calls for no athlete, or for one who has disconnected'),
        calls: count,
      }),
    )
    .describe('The 200 athletes with the most calls'),
})

export function quotaRoutes(app: App, { quota, vendors }: HttpParts): void {
  const mine = { summary: "How much of each vendor's quota is left", tags: ['athlete'], response: { 200: listOf(state) } }
  app.get('/v1/quota', { config: { audience: 'athlete' }, schema: mine }, async ({ athleteId }) => ({
    items: await Promise.all(vendors().map(async name => stateAnswer(await quota.vendorState(name, athleteId)))),
    nextCursor: null,
  }))

  const days = z.coerce.number().int().min(1).max(KEPT_DAYS).default(1)
  const everyones = {
    summary: "How much of each vendor's quota is left, and who used it",
    tags: ['admin'],
    querystring: z.object({ days: days.describe(`Usage of the last N days, today included (UTC); at most ${KEPT_DAYS}`) }),
    response: { 200: z.object({ items: z.array(state), usage: z.array(usage) }), 400: errorAnswer },
  }
  app.get('/admin/quota', { config: { audience: 'operator' }, schema: everyones }, async request => ({
    items: await Promise.all(vendors().map(async name => stateAnswer(await quota.vendorState(name)))),
    usage: (await quota.usage(vendors(), request.query.days)).map(usageAnswer),
  }))
}

const iso = (at: number): string => new Date(at).toISOString()

const stateAnswer = ({ vendor: name, pools, nextBackfillAt }: VendorState) => ({
  vendor: name,
  pools: pools.map(({ pool, windows }) => ({
    pool,
    windows: windows.map(({ resetAt, ...window }) => ({ ...window, resetAt: iso(resetAt) })),
  })),
  nextBackfillAt: nextBackfillAt === null ? null : iso(nextBackfillAt),
})

const usageAnswer = ({ vendor: name, windows, endpoints, athletes }: VendorUsage) => ({
  vendor: name,
  windows: windows.map(({ startsAt, ...window }) => ({ ...window, startsAt: iso(startsAt) })),
  endpoints: [...endpoints],
  athletes: [...athletes],
})
