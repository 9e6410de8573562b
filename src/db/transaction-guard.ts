// Catches the outer handle being used inside a transaction's callback. PostgreSQL would run such a query on another
// connection, outside the transaction; the embedded store has one connection and would hang. Both refuse it alike.
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'

export class TransactionGuard {
  readonly #inside = new AsyncLocalStorage<{ open: boolean }>()

  /** Work that a transaction merely started, and that outlives it, may use the outer handle again. */
  check(): void {
    assert(!this.#inside.getStore()?.open, 'inside a transaction use its own handle (tx), not the database')
  }

  async enter<T>(work: () => Promise<T>): Promise<T> {
    const scope = { open: true }
    try {
      return await this.#inside.run(scope, work)
    } finally {
      scope.open = false
    }
  }
}
