// Where nights come in, from whatever side: an import, a push, a webhook. They leave as events through the outbox, in the caller's
// transaction; what becomes of them is the normaliser's.
import type { Queryable } from '../db/db.ts'
import { Outbox } from '../events/events.ts'
import type { Clock } from '../kernel/clock.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Night } from './nights.ts'

export class SleepIngest {
  readonly #newId: NewId
  readonly #outbox: Outbox

  constructor(parts: { readonly clock: Clock; readonly newId: NewId }) {
    this.#newId = parts.newId
    this.#outbox = new Outbox(parts)
  }

  /** All of them, or with the caller's transaction none. */
  async receive(tx: Queryable, athleteId: string, nights: readonly Night[]): Promise<void> {
    const events = nights.map(night => {
      const id = this.#newId()
      return {
        id,
        subject: 'athlete-ally.sleep.raw-received' as const,
        payload: { eventId: id, payload: { userId: athleteId, ...night } },
      }
    })
    await this.#outbox.add(tx, ...events)
  }
}
