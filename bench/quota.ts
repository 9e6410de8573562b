// What deciding about one call costs. In Redis: decisions a second with 200 in flight, beside rate-limiter-flexible's union of the
// same four limits on the same server (the ratio), one of its limits alone, an empty script and a script with the same commands.
// In the database: permits a second beside bare single-row inserts into the same store.
import type { ProgramName } from '../test/servers/programs.ts'
import type { Bench, Measured } from '../scripts/bench.ts'
import { embeddedPermits, postgresPermits } from './quota/ledger-side.ts'
import { redisFigures, summaryOf } from './quota/redis-side.ts'

export const about = 'what deciding about one call costs, in Redis and in the database, beside rate-limiter-flexible'
export const needs: readonly ProgramName[] = ['postgres', 'redis']

const rate = (what: string, value: number): Measured => ({ what, value, unit: '/s' })
const times = (what: string, value: number): Measured => ({ what, value, unit: 'x' })
const ms = (what: string, value: number): Measured => ({ what, value, unit: 'ms' })

export async function run(): Promise<Bench> {
  const { perSecond, loadedMs, aloneMs } = await redisFigures()
  const { ours, union, single, empty, sameCommands } = perSecond
  const embedded = await embeddedPermits()
  const postgres = await postgresPermits()
  return {
    ours: rate('Redis decisions, 200 in flight', ours),
    reference: rate('rate-limiter-flexible, union of the same four limits', union),
    also: [
      rate('rate-limiter-flexible, one limit', single),
      rate('an empty script', empty),
      rate('a script with the same commands and no logic', sameCommands),
      times('decisions to one limit', ours / single),
      times('decisions to the empty script', ours / empty),
      times('decisions to the same commands', ours / sameCommands),
      ms('a decision with 200 in flight, p50', summaryOf(loadedMs).p50),
      ms('a decision with 200 in flight, p99', summaryOf(loadedMs).p99),
      ms('a decision alone, p50', summaryOf(aloneMs).p50),
      ms('a decision alone, p99', summaryOf(aloneMs).p99),
      rate('embedded permits taken', embedded.take),
      rate('embedded permits taken and settled', embedded.takeAndSettle),
      rate('embedded bare inserts', embedded.insert),
      times('embedded permits taken to bare inserts', embedded.take / embedded.insert),
      rate('PostgreSQL permits taken, one after another', postgres.alone.take),
      rate('PostgreSQL permits taken, 16 in flight', postgres.sixteen.take),
      rate('PostgreSQL permits taken and settled, 16 in flight', postgres.sixteen.takeAndSettle),
      rate('PostgreSQL bare inserts, one after another', postgres.alone.insert),
      rate('PostgreSQL bare inserts, 16 in flight', postgres.sixteen.insert),
    ],
  }
}
