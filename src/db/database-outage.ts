// Tells when the database stops answering and when it answers again: one line at each end, whoever of the rooms met it.
import { tell } from '../kernel/channels.ts'
import { hasCode, reasonOf } from '../kernel/errors.ts'
import type { Database } from './database.ts'

export function tellingOutages(database: Database): Database {
  let isAway = false
  const seen = async <T>(work: Promise<T>): Promise<T> => {
    try {
      const result = await work
      if (isAway) tell('paceline:notice', { where: 'db', sentence: 'The database answers again.', level: 'warn' })
      isAway = false
      return result
    } catch (error) {
      if (hasCode(error, 'PACE_DATABASE_UNAVAILABLE')) {
        if (!isAway) tell('paceline:notice', { where: 'db', sentence: reasonOf(error), level: 'warn' })
        isAway = true
      }
      throw error
    }
  }
  return {
    kind: database.kind,
    query: (query, values) => seen(database.query(query, values)),
    script: text => seen(database.script(text)),
    notify: (channel, payload) => seen(database.notify(channel, payload)),
    transaction: (work, options) => seen(database.transaction(work, options)),
    listen: (channel, listener) => database.listen(channel, listener),
    close: () => database.close(),
  }
}
