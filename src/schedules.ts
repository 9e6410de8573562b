// What happens by itself, at its times: pruning, retention, sweeps. Started in one process or in several; each schedule rings once for all.
import { cron, type Bell } from './bell/bell.ts'
import type { Database } from './db/db.ts'
import type { Clock } from './kernel/clock.ts'
import { service, type Service } from './kernel/service.ts'
import type { Rooms } from './rooms.ts'
import { vendorNames } from './vendors/vendors.ts'

interface Scheduled extends Rooms {
  readonly bell: Bell
  readonly clock: Clock
  readonly database: Database
}

export function scheduled({ bell, clock, database, imports, streams, ...rooms }: Scheduled): Service[] {
  const { bus, accounts, connections, deadLetters, erasure, ingestRequests, quota } = rooms
  const work: Record<string, { expression: string; work: () => Promise<void> }> = {
    'accounts-prune': {
      expression: '40 3 * * *',
      work: async () => {
        await accounts.prune()
        await connections.consents.prune()
      },
    },
    // Within minutes: what nobody confirmed is somebody's access, and perhaps not the athlete's.
    'consents-expire': { expression: '* * * * *', work: () => connections.consents.expire() },
    'quota-prune': { expression: '45 3 * * *', work: () => quota.prune() },
    retention: {
      expression: '50 3 * * *',
      work: async () => {
        for (const name of vendorNames) await erasure.retain(name)
      },
    },
    'events-prune': {
      expression: '55 3 * * *',
      work: async () => {
        await bus.prune()
        await deadLetters.prune()
        await ingestRequests.prune()
      },
    },
    'dead-letters-sweep': { expression: '* * * * *', work: () => deadLetters.sweep() },
    'erasure-resume': { expression: '* * * * *', work: () => erasure.resume() },
    // PGlite has no autovacuum.
    ...(database.kind === 'pglite' && { 'store-vacuum': { expression: '20 3 * * *', work: () => vacuum(database) } }),
  }
  const starts = [
    ...Object.entries(work).map(([name, schedule]) => cron(bell, clock, name, schedule)),
    ...imports.schedules(),
    ...streams.schedules(),
  ]
  return [
    service('schedules', {
      open: async () => {
        for (const start of starts) await start()
      },
      shut: () => undefined,
    }),
    imports.watching,
  ]
}

async function vacuum(database: Database): Promise<void> {
  await database.query('vacuum analyze')
}
