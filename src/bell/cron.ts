// A schedule is a bell that rings itself again: the next time is set before the work is done, so that a failing run does not
// end the schedule. It runs on the clock it is given.
import { CronExpressionParser } from 'cron-parser'
import type { Clock } from '../kernel/clock.ts'
import type { Bell } from './bell.ts'

/** The one key of a schedule's bell: however many processes, one ring waits. */
const KEY = 'next'

/** Declares the schedule; the returned function sets its first ring once the bell has started. A run that was missed while nothing ran comes at once. */
export function cron(
  bell: Bell,
  clock: Clock,
  name: string,
  schedule: { expression: string; work: () => Promise<void> },
): () => Promise<void> {
  const ringNext = async (): Promise<void> => {
    await bell.ring(name, KEY, nextAfter(schedule.expression, clock.now()))
  }
  nextAfter(schedule.expression, 0)
  bell.answer(name, async () => {
    await ringNext()
    await schedule.work()
  })
  return ringNext
}

function nextAfter(expression: string, instant: number): number {
  return CronExpressionParser.parse(expression, { currentDate: new Date(instant), tz: 'UTC' })
    .next()
    .getTime()
}
