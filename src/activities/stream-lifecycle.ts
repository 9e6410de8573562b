// The life of an activity's streams: a state of the activity, which streams/ moves. Written once: the types, the CHECKs and guard of the
// migration, the page and the matrix test come from it. There is no way from fetching back to pending: a claim is made by who has a
// permit, so it is never made in vain.
import { defineLifecycle } from '../kernel/lifecycle.ts'

export const streamLifecycle = defineLifecycle({
  table: 'activity',
  column: 'stream_fetch_status',
  initial: ['pending', 'unavailable'],
  states: {
    pending: { means: 'nobody has asked the vendor yet' },
    fetching: { means: 'a worker is asking the vendor' },
    success: { means: 'the streams are stored', final: true },
    failed: {
      means: 'the last attempt failed; after three it waits for a person',
      set: ['stream_fetch_error'],
    },
    deferred: {
      means:
        'waits until `stream_fetch_deferred_until`: for the budget, for streams that may still appear, for a vendor that sends by itself',
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
    fail: { from: ['fetching'], to: 'failed', when: 'trouble that may pass, or its worker died' },
    defer: { from: ['fetching'], to: 'deferred', when: 'too many calls, streams not ready yet, or the vendor is to send them' },
    close: { from: ['fetching'], to: 'unavailable', when: 'the vendor says that there are none' },
    reset: {
      from: ['success', 'failed', 'deferred', 'unavailable'],
      to: 'pending',
      when: 'somebody asks for a new beginning',
      byHand: true,
    },
  },
})

export type StreamStatus = keyof typeof streamLifecycle.states
export const streamStatuses = Object.keys(streamLifecycle.states) as StreamStatus[]
