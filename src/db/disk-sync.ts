// PGlite asks the operating system to write, but its file system has no fsync: a commit survives kill -9 and not a power
// cut. This adds the missing call to the mount that holds the store, and counts, so that its working can be asserted.
import assert from 'node:assert/strict'
import { closeSync, fsyncSync, openSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'

/** Server options under which PostgreSQL calls fsync at every commit; PGlite's default `-F` switches that off. */
export const syncedStart = (defaults: readonly string[]): string[] => [
  ...defaults.filter(option => option !== '-F'),
  '-c',
  'fsync=on',
  '-c',
  'wal_sync_method=fsync',
]

interface HostStream {
  readonly nfd: number
}
interface Mount {
  readonly type: { readonly realPath?: unknown; readonly stream_ops: { fsync?: (stream: HostStream) => number } }
}

/** Returns how often the store has been synced so far. */
export function syncToDisk(pglite: PGlite): () => number {
  const { FS } = pglite.Module as unknown as { FS: { root: { mount: { mounts: Mount[] } } } }
  const host = FS.root.mount.mounts.filter(mount => mount.type.realPath !== undefined)
  assert.equal(host.length, 1, 'PGlite has exactly one mount on the host file system')
  let count = 0
  for (const { type } of host) {
    type.stream_ops.fsync = stream => {
      fsyncSync(stream.nfd)
      count += 1
      return 0
    }
  }
  return () => count
}

/** Syncs what PGlite wrote before it had the call: a new cluster, or the recovery after a crash. */
export function syncFolder(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() || entry.isDirectory()) syncPath(join(entry.parentPath, entry.name))
  }
  syncPath(folder)
}

function syncPath(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
