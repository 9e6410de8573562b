// One process per embedded store: two on one folder lose rows silently, and PGlite's own postmaster.pid does not stop them.
// The lock is an exclusive SQLite transaction, which the operating system releases however the process ends.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { PacelineError, reasonOf } from '../kernel/errors.ts'

export interface FolderLock {
  release(): void
}

/** Makes the folder where it is missing. */
export function lockFolder(folder: string): FolderLock {
  privateFolder(folder)
  const pidFile = join(folder, 'store.pid')
  const lock = new DatabaseSync(join(folder, 'store.lock'), { timeout: 0 })
  try {
    lock.exec('begin exclusive')
  } catch (error) {
    lock.close()
    if (!/locked/.test(reasonOf(error))) throw error
    throw new PacelineError(
      'PACE_STORE_LOCKED',
      `The data folder ${folder} is in use by the process with id ${ownerOf(pidFile)}; stop that one first.`,
    )
  }
  writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 })
  return {
    release: () => {
      if (lock.isOpen) lock.close()
    },
  }
}

/** PGlite makes its files writable for everyone: only the folder around them protects them, also where it was there before. */
export function privateFolder(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  chmodSync(folder, 0o700)
  return folder
}

// The owner writes its pid right after it has the lock; whoever comes in between reads nothing.
function ownerOf(pidFile: string): string {
  try {
    return readFileSync(pidFile, 'utf8').trim() || 'unknown'
  } catch {
    return 'unknown'
  }
}
