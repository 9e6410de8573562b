// Gives one ring to whoever answers it, and tells how that went. A failing answer is an outcome here: the bell rings again.
import type { Clock } from '../kernel/clock.ts'
import { tell } from '../kernel/channels.ts'

export async function answered(bell: string, clock: Clock, answer: () => Promise<void>): Promise<'done' | 'failed'> {
  const startedAt = clock.now()
  const outcome = await answer().then(
    () => 'done' as const,
    (error: unknown) => {
      tell('paceline:fault', { where: 'bell', what: bell, error })
      return 'failed' as const
    },
  )
  tell('paceline:bell', { bell, outcome, durationMs: clock.now() - startedAt })
  return outcome
}

const RETRIES = 10
const RETRY_MS = 1_000
const RETRY_MAX_MS = 60_000

/** How long a ring waits that failed so many times in a row; undefined: it is given up. */
export function retryMs(failures: number): number | undefined {
  return failures > RETRIES ? undefined : Math.min(RETRY_MS * 2 ** (failures - 1), RETRY_MAX_MS)
}
