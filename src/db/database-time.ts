// The system clock follows the database's, so that all nodes on one database agree on what time it is.
import type { SystemClock } from '../kernel/clock.ts'
import { tell } from '../kernel/channels.ts'
import { reasonOf } from '../kernel/errors.ts'
import { linked } from '../kernel/linked-signal.ts'
import { service, type Service } from '../kernel/service.ts'
import type { Database } from './database.ts'

/** Quartz drifts by some ten milliseconds an hour; a minute keeps nodes within the noise of the network. */
const EVERY_MS = 60_000

/** A busy database answers late, and a jump has to be confirmed. After so many tries the time stays as it is for this minute. */
const TRIES = 5

export async function followTime(clock: SystemClock, database: Database): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) if (await ask(clock, database)) return
}

/** False: the answer was too slow, or another one must confirm it. */
async function ask(clock: SystemClock, database: Database): Promise<boolean> {
  const sentAt = clock.unfollowed()
  const [row] = await database.query<{ ms: number }>('select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms')
  return row === undefined || clock.follow(row.ms, sentAt, clock.unfollowed())
}

export function timeFollower(clock: SystemClock, database: Database): Service {
  const follow = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const stepped = new AbortController()
      clock.onStep = () => {
        stepped.abort()
      }
      using waking = linked(signal, stepped.signal)
      await clock.sleep(EVERY_MS, waking.signal).catch(() => undefined)
      if (signal.aborted) return
      await followTime(clock, database).catch((error: unknown) => {
        tell('paceline:notice', {
          where: 'db',
          sentence: `The database does not tell its time: ${reasonOf(error)}`,
          level: 'debug',
        })
      })
    }
  }
  return service('time', {
    open: signal => {
      void follow(signal)
    },
    // A question that is under way is not waited for: a database that hangs would hold the stop.
    shut: () => undefined,
  })
}
