// The life of an import. Written once: the types, the CHECKs and guard of the migration, the page and the matrix test come from it.
import { defineLifecycle } from '../kernel/lifecycle.ts'

export const importLifecycle = defineLifecycle({
  table: 'import_jobs',
  column: 'status',
  initial: ['queued'],
  states: {
    queued: { means: 'waits for a worker' },
    started: { means: 'a worker is fetching', set: ['lease_owner', 'lease_expires_at'] },
    rate_limited: { means: 'waits until `retry_after`: for the budget, or for a vendor in trouble', set: ['retry_after'] },
    completed: { means: 'everything that was to be fetched is stored', final: true },
    failed: { means: 'cannot go on without a person; its cursor is taken over by the next one', final: true, set: ['error'] },
  },
  moves: {
    claim: { from: ['queued', 'rate_limited'], to: 'started', when: 'a worker takes it, when it is due' },
    pause: { from: ['started'], to: 'rate_limited', when: 'no permit, or the vendor is in trouble' },
    release: { from: ['started'], to: 'queued', when: 'its lease expired, or its process shuts down' },
    complete: { from: ['started'], to: 'completed', when: 'nothing is owed any more' },
    fail: {
      from: ['queued', 'started', 'rate_limited'],
      to: 'failed',
      when: 'the connection needs a new consent, or the vendor refuses',
    },
  },
})

export type ImportStatus = keyof typeof importLifecycle.states
export const importStatuses = Object.keys(importLifecycle.states) as ImportStatus[]
