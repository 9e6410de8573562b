// The outbox: an event is written in the transaction of its change, so it exists exactly if the change does, and a crash loses none. The rows
// are published later, at least once each; the row's id is the event's id.
import type { Clock } from '../kernel/clock.ts'
import type { NewId } from '../kernel/ids.ts'
import { loadQueries, type Queryable } from '../db/db.ts'
import type { Event } from './subjects.ts'

const sql = loadQueries(new URL('outbox.sql', import.meta.url), ['add', 'erase'])

export class Outbox {
  readonly #clock: Clock
  readonly #newId: NewId

  constructor({ clock, newId }: { readonly clock: Clock; readonly newId: NewId }) {
    this.#clock = clock
    this.#newId = newId
  }

  /** Adds the events in the caller's transaction. Ids grow in the order given. */
  async add(tx: Queryable, ...events: readonly Event[]): Promise<void> {
    if (events.length === 0) return
    const rows = events.map(({ id = this.#newId(), subject, payload }) => ({ id, subject, payload }))
    await tx.query(sql.add, [JSON.stringify(rows), new Date(this.#clock.now())])
  }
}

interface Whose {
  readonly athleteId: string
  readonly vendor: string
  readonly before?: Date
}

/** It has the shape of accounts' Eraser; engine.ts brings the two together. */
export const outboxEraser = {
  tables: ['outbox'],
  // Not counted: a receipt counts what the vendor delivered, and these rows are only events about it.
  erase: async (tx: Queryable, { athleteId, vendor, before }: Whose): Promise<Record<string, number>> => {
    await tx.query(sql.erase, [athleteId, vendor, before ?? null])
    return {}
  },
} as const
