// Gives one ring to whoever answers it, and tells how that went. A failing answer is an outcome here: the bell rings again.
import type { Clock } from '../kernel/clock.ts'
import { tell } from '../kernel/channels.ts'

export async function answered(bell: string, clock: Clock, answer: () => Promise<void>): Promise<'done' | 'failed'> {
  const startedAt = clock.now()
  const outcome = await answer().then(
    () => 'done' as const,
    (error: unknown) => {
      tell('paceline:fault', { where: `bell ${bell}`, error })
      return 'failed' as const
    },
  )
  tell('paceline:bell', { bell, outcome, durationMs: clock.now() - startedAt })
  return outcome
}
