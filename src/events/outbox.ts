// The outbox: an event is written in the transaction of its change, so it exists exactly if the change does, and a crash loses none. The rows
// are published later, at least once each (relay.ts); the row's id is the event's id.
import type { Clock } from '../kernel/clock.ts'
import type { NewId } from '../kernel/ids.ts'
import { loadEraser, loadQueries, type Queryable } from '../db/db.ts'
import type { Event } from './subjects.ts'
import { activeTrace } from './traces.ts'

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

  /** Adds the events in the caller's transaction. Ids grow in the order given. */
  async add(tx: Queryable, ...events: readonly Event[]): Promise<void> {
    if (events.length === 0) return
    const traceparent = activeTrace()
    const rows = events.map(({ id = this.#newId(), subject, payload }) => ({ id, subject, payload, traceparent }))
    await tx.query(sql.add({ events: JSON.stringify(rows), now: new Date(this.#clock.now()) }))
  }
}

/** Not counted: a receipt counts what the vendor delivered, and these rows are only events about it. */
export const eventsEraser = loadEraser(new URL('eraser.sql', import.meta.url), {
  outbox: 'uncounted',
  bus_message: 'uncounted',
  dead_letter: 'uncounted',
})
