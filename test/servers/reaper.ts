// Nothing that a test starts outlives the test's process, however that ends: a separate process holds the list of what would
// remain and removes it when its standard input closes, which the kernel does also after `kill -9`.
import { spawn } from 'node:child_process'
import { Socket } from 'node:net'
import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { remove, type Remains } from './remains.ts'

const watched = new Map<string, Remains>()
let pipe: Socket | undefined

/** Also replaces what was said before about the same folder. */
export function watch(remains: Remains): void {
  watched.set(remains.folder, remains)
  tellReaper()
}

/** Removes now what would otherwise remain. */
export function discard(folder: string): void {
  const remains = watched.get(folder)
  if (remains) remove(remains)
  watched.delete(folder)
  tellReaper()
}

function tellReaper(): void {
  pipe ??= startReaper()
  pipe.write(`${JSON.stringify([...watched.values()])}\n`)
}

function startReaper(): Socket {
  // Detached, because Ctrl-C in a terminal reaches the whole process group; unreferenced, because it must not keep a test alive.
  const reaper = spawn(process.execPath, [fileURLToPath(new URL('./reaper-process.ts', import.meta.url))], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  reaper.unref()
  assert(reaper.stdin instanceof Socket)
  reaper.stdin.unref()
  return reaper.stdin
}
