// When the process is asked to stop. One Ctrl-C under npm reaches it twice: from the terminal, and passed on by npm. So the same signal
// soon after the first is the same wish; a later or another one ends the process at once.
import type { Clock } from '../kernel/clock.ts'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const
/** Longer than a busy machine takes to pass a signal on, shorter than a person waits before pressing again. */
const SAME_WISH_MS = 1_000

interface Signals {
  on(signal: (typeof SIGNALS)[number], listener: () => void): unknown
}

export function stopAsked(signals: Signals, clock: Clock, atOnce: () => void): Promise<void> {
  return new Promise(resolve => {
    let first: { readonly signal: string; readonly at: number } | undefined
    for (const signal of SIGNALS) {
      signals.on(signal, () => {
        if (first === undefined) {
          first = { signal, at: clock.now() }
          resolve()
        } else if (signal !== first.signal || clock.now() - first.at >= SAME_WISH_MS) atOnce()
      })
    }
  })
}
