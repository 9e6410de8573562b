// Rings at a time. The bell carries no state worth keeping: what is to be done is a row with a due time, and a ring only
// says "look at this row now". Laws:
// - a ring comes at its time or after it, by the clock it was given, never before;
// - one ring per bell and key waits at a time; an earlier time moves it, a later one changes nothing;
// - a ring that comes while its key is being answered is kept and comes after it; an answerer that is taken for dead may still be at
//   work: the row decides;
// - at least once: a ring whose answer failed, or whose process died, comes again, up to ten times; then the sweep of due
//   rows rings anew.
// Answers are short (minutes at most): a bell has a limited number of them under way, and a key's next ring waits for the last answer.
import type { Service } from '../kernel/service.ts'

export type Answer = (key: string) => Promise<void>

export interface Bell {
  readonly service: Service
  ring(bell: string, key: string, at: number): Promise<void>
  /** Who answers a bell. Given before the start; a process may ring bells that only others answer. */
  answer(bell: string, answer: Answer): void
}

export { RowBell } from './bell-rows.ts'
export { VirtualBell } from './bell-virtual.ts'
export { cron } from './cron.ts'
