// Keeps the embedded store's write-ahead log small. PostgreSQL's checkpoints are begun by a process of their own, which PGlite does not
// have: its log would grow until the store closes. So the adapter looks now and then how much was written, and begins one itself.
import type { PGlite } from '@electric-sql/pglite'
import { tell } from '../kernel/channels.ts'

/** A checkpoint makes the pages after it larger, so not too often: two segments of 16 MB. */
const CHECKPOINT_BYTES = 32 * 1024 * 1024
/** A look takes a tenth of a millisecond. The largest rows are some hundred kilobytes, so what is written between two looks is less than a checkpoint's worth. */
const LOOK_EVERY = 50

/** What a checkpoint keeps for reuse; PostgreSQL's own default is 80 MB. */
export const WAL_OPTIONS = ['-c', 'min_wal_size=32MB', '-c', 'max_wal_size=64MB']

export class WalCap {
  readonly #pglite: PGlite
  #uses = 0

  constructor(pglite: PGlite) {
    this.#pglite = pglite
  }

  /** Called between two uses of the connection, never inside a transaction. Whoever used it has an answer already: a failure here is told, not thrown. */
  async used(): Promise<void> {
    this.#uses += 1
    if (this.#uses % LOOK_EVERY !== 0) return
    try {
      if ((await this.#written()) > CHECKPOINT_BYTES) await this.#pglite.exec('checkpoint')
    } catch (error) {
      tell('paceline:fault', { where: "the embedded store's checkpoint", error })
    }
  }

  async #written(): Promise<number> {
    const { rows } = await this.#pglite.query<{ bytes: number }>(
      'select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::float8 as bytes from pg_control_checkpoint()',
    )
    return rows[0]?.bytes ?? 0
  }
}
