// The lifecycle of an activity's streams: a state of the activity, which streams/ moves. The types, the migration's CHECKs and guard, the
// documentation and the matrix test come from it. No move leads from fetching back to pending: a claim is made with a permit in hand, so the
// call always follows.
import { defineLifecycle } from '../kernel/lifecycle.ts'

export const streamLifecycle = defineLifecycle({
  table: 'activity',
  column: 'stream_fetch_status',
  initial: ['pending', 'unavailable'],
  states: {
    pending: { means: 'the vendor has not been asked yet' },
    fetching: { means: 'a worker is asking the vendor' },
    success: { means: 'the streams are stored', final: true },
    failed: {
      means: 'the last attempt failed; after three it waits for a person',
      set: ['stream_fetch_error'],
    },
    deferred: {
      means:
        'waits until `stream_fetch_deferred_until`: for the budget, for streams that may still appear, or for a vendor that sends them by itself',
      set: ['stream_fetch_error', 'stream_fetch_deferred_until'],
    },
    unavailable: { means: 'the vendor has none', final: true },
  },
  moves: {
    claim: {
      from: ['pending', 'failed', 'deferred'],
      to: 'fetching',
      when: 'a worker takes it: a failed one after its backoff, a deferred one when it is due',
    },
    succeed: { from: ['fetching'], to: 'success', when: 'the streams came, all of one length' },
    fail: { from: ['fetching'], to: 'failed', when: 'the call failed in a way that may pass, or its worker died' },
    defer: { from: ['fetching'], to: 'deferred', when: 'no quota, streams not ready yet, or the vendor will send them' },
    close: { from: ['fetching'], to: 'unavailable', when: 'the vendor says that there are none' },
    reset: {
      from: ['success', 'failed', 'deferred', 'unavailable'],
      to: 'pending',
      when: 'a person resets it',
      byHand: true,
    },
  },
})

export type StreamStatus = keyof typeof streamLifecycle.states
export const streamStatuses = Object.keys(streamLifecycle.states) as StreamStatus[]
