// What a server leaves if nobody stops it: its processes, its folder and, for PostgreSQL, a piece of shared memory. Removing
// them works on any of these, from any process, in any state the server is in.
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode } from '../../src/kernel/errors.ts'

export interface Remains {
  readonly folder: string
  readonly pid?: number | undefined
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ESRCH')) return ''
    throw error
  }
}

export function childrenOf(pid: number): readonly number[] {
  const list =
    process.platform === 'linux'
      ? read(`/proc/${pid}/task/${pid}/children`)
      : spawnSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' }).stdout
  return list.split(/\s+/).filter(Boolean).map(Number)
}

/** False when there is no such process. */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name)
  } catch (error) {
    if (hasCode(error, 'ESRCH')) return false
    throw error
  }
}

/** A dead process that nobody has asked after yet is not alive; in a container without an init it stays so. */
export const isAlive = (pid: number): boolean =>
  process.platform === 'linux' ? /^\d+ \(.*\) [^ZX]/s.test(read(`/proc/${pid}/stat`)) : signal(pid, 0)

/** Halted, or ended and not asked after yet by its halted parent. */
export const standsStill = (pid: number): boolean =>
  process.platform !== 'linux' || !isAlive(pid) || /^\d+ \(.*\) [Tt]/s.test(read(`/proc/${pid}/stat`))

/**
 * Signals a process and all that come from it, and says who they were. PostgreSQL's are session leaders of their own, so a
 * signal to the process group does not reach them.
 */
export function signalFamily(pid: number, name: NodeJS.Signals): readonly number[] {
  const family = haltedFamily(pid)
  for (const member of family.toReversed()) signal(member, name)
  return family
}

// Stopped before its children are listed: it could fork in between.
function haltedFamily(pid: number): readonly number[] {
  signal(pid, 'SIGSTOP')
  return [pid, ...childrenOf(pid).flatMap(haltedFamily)]
}

// A killed PostgreSQL leaves its System V segment until the same folder is started again. The id is the second number of the
// seventh line. Without ipcrm 56 bytes stay until the machine restarts.
function releaseSharedMemory(folder: string): void {
  const id = read(join(folder, 'data', 'postmaster.pid'))
    .split('\n')[6]
    ?.trim()
    .split(/\s+/)[1]
  if (id !== undefined) spawnSync('ipcrm', ['-m', id])
}

export function remove({ pid, folder }: Remains): void {
  if (pid !== undefined) signalFamily(pid, 'SIGKILL')
  releaseSharedMemory(folder)
  // A process that was just killed may still be creating files in it.
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
}
