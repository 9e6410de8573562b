// A database that keeps account of its statements: how often each ran and how long it took, as its caller saw it. A transaction's own part
// (its begin, its commit, the wait for a connection) counts as a statement.
import { asQuery, type Database, type Queryable } from '../../src/db/database.ts'

export interface Recorded {
  readonly text: string
  count: number
  ms: number
}

export class Recorder {
  readonly #statements = new Map<string, Recorded>()

  reset(): void {
    this.#statements.clear()
  }

  /** The costliest first. */
  get statements(): readonly Recorded[] {
    return [...this.#statements.values()].toSorted((one, other) => other.ms - one.ms)
  }

  get ms(): number {
    return this.statements.reduce((sum, { ms }) => sum + ms, 0)
  }

  get count(): number {
    return this.statements.reduce((sum, { count }) => sum + count, 0)
  }

  add(text: string, ms: number): void {
    const known = this.#statements.get(text) ?? { text, count: 0, ms: 0 }
    known.count += 1
    known.ms += ms
    this.#statements.set(text, known)
  }

  async timed<T>(text: string, work: () => Promise<T>): Promise<T> {
    const startedAt = performance.now()
    try {
      return await work()
    } finally {
      this.add(text, performance.now() - startedAt)
    }
  }
}

const TRANSACTION = 'begin … commit'

export function recorded(database: Database, recorder: Recorder): Database {
  return {
    ...recordedHandle(database, recorder),
    kind: database.kind,
    transaction: async (work, options) => {
      const startedAt = performance.now()
      let insideMs = 0
      try {
        return await database.transaction(async tx => {
          const enteredAt = performance.now()
          try {
            return await work(recordedHandle(tx, recorder))
          } finally {
            insideMs = performance.now() - enteredAt
          }
        }, options)
      } finally {
        recorder.add(TRANSACTION, performance.now() - startedAt - insideMs)
      }
    },
    listen: (channel, listener) => database.listen(channel, listener),
    close: () => database.close(),
  }
}

const recordedHandle = (handle: Queryable, recorder: Recorder): Queryable => ({
  query: (query, values) => recorder.timed(asQuery(query, values).text, () => handle.query(query, values)),
  script: text => recorder.timed(text, () => handle.script(text)),
  notify: (channel, payload) => recorder.timed(`notify ${channel}`, () => handle.notify(channel, payload)),
})
