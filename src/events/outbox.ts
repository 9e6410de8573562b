// What is to be told of a change is written in the change's own transaction: what was stored is told, what was rolled back is not,
// and a crash in between loses nothing. The rows leave later, at least once; the row's id is the event's id.
import type { Clock } from '../kernel/clock.ts'
import type { NewId } from '../kernel/ids.ts'
import { loadEraser, loadQueries, type Queryable } from '../db/db.ts'
import type { Event } from './subjects.ts'

const sql = loadQueries(new URL('outbox.sql', import.meta.url), {
  add: ['events', 'now'],
})

export class Outbox {
  readonly #clock: Clock
  readonly #newId: NewId

  constructor({ clock, newId }: { readonly clock: Clock; readonly newId: NewId }) {
    this.#clock = clock
    this.#newId = newId
  }

  /** All of them, or with the caller's transaction none. Ids grow in the order given. */
  async add(tx: Queryable, ...events: readonly Event[]): Promise<void> {
    if (events.length === 0) return
    const rows = events.map(({ id = this.#newId(), subject, payload }) => ({ id, subject, payload }))
    await tx.query(sql.add({ events: JSON.stringify(rows), now: new Date(this.#clock.now()) }))
  }
}

/** A receipt counts what the vendor delivered, and these rows only tell of it. */
export const outboxEraser = loadEraser(new URL('eraser.sql', import.meta.url), { outbox: 'uncounted' })
