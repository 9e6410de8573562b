// The lifecycle of an import. The types, the migration's CHECKs and guard, the documentation and the matrix test come from it.
import { defineLifecycle } from '../kernel/lifecycle.ts'

export const importLifecycle = defineLifecycle({
  table: 'import_jobs',
  column: 'status',
  initial: ['queued'],
  states: {
    queued: { means: 'waits for a worker' },
    started: { means: 'is being fetched, call by call, as its athlete has a turn' },
    rate_limited: {
      means:
        'waits until `retry_after`, for what `pause` says: quota, the budget service, a vendor that fails, has switched the application off or is still sending, or a fault of Paceline',
      set: ['retry_after'],
    },
    completed: { means: 'everything is stored, except what `problems` names', final: true },
    failed: {
      means: 'ended before it was complete; the next full import of the connection goes on from its cursor',
      final: true,
      set: ['error'],
    },
  },
  moves: {
    claim: {
      from: ['queued', 'rate_limited'],
      to: 'started',
      when: 'a worker takes it: a queued one at once, a paused one when it is due',
    },
    pause: {
      from: ['started'],
      to: 'rate_limited',
      when: 'no permit, the vendor fails or is still sending, or Paceline has a fault',
    },
    release: { from: ['started'], to: 'queued', when: 'its process stops, or a server it needs is away' },
    complete: { from: ['started'], to: 'completed', when: 'nothing is left to fetch' },
    fail: {
      from: ['queued', 'started', 'rate_limited'],
      to: 'failed',
      when: 'the connection is gone or needs a new consent, the vendor refuses, or a fault of Paceline does not pass',
    },
  },
})

export type ImportStatus = keyof typeof importLifecycle.states
export const importStatuses = Object.keys(importLifecycle.states) as ImportStatus[]
