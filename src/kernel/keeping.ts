// Keeps something alive while a piece of work runs: a lease, a claim, a message in hand. A beat that fails is the next one's business; what
// the work does about a lease that was lost, its own guards say.
import type { Clock } from './clock.ts'

export async function keeping<T>(
  clock: Clock,
  everyMs: number,
  beat: () => Promise<unknown>,
  work: () => Promise<T>,
): Promise<T> {
  const ended = new AbortController()
  const beating = (async () => {
    for (;;) {
      await clock.sleep(everyMs, ended.signal).catch(() => undefined)
      if (ended.signal.aborted) return
      await beat().catch(() => undefined)
    }
  })()
  try {
    return await work()
  } finally {
    ended.abort()
    await beating
  }
}
