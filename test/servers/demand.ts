// How much a process and its descendants want a processor: the time that they ran, and the time that they could have run and others
// did. On a busy machine the second is most of it. Only Linux tells both; elsewhere it is the time that this process itself ran.
import { globSync, readFileSync } from 'node:fs'
import { hasCode } from '../../src/kernel/errors.ts'
import { childrenOf } from './remains.ts'

export const familyOf = (pid: number): readonly number[] => [pid, ...childrenOf(pid).flatMap(familyOf)]

/** Since each of them began. */
export function wantedMs(pids: readonly number[]): ReadonlyMap<number, number> {
  if (process.platform !== 'linux') return new Map([[process.pid, ownMs()]])
  return new Map(pids.map(pid => [pid, ofThreads(pid)]))
}

function ownMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

function ofThreads(pid: number): number {
  return globSync(`/proc/${pid}/task/*/schedstat`).reduce((sum, path) => sum + wantedIn(path), 0)
}

/** Nanoseconds on a processor, nanoseconds waiting for one, and how often. */
function wantedIn(path: string): number {
  try {
    const [ranNs = 0, waitedNs = 0] = readFileSync(path, 'utf8').split(' ').map(Number)
    return (ranNs + waitedNs) / 1e6
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ESRCH')) return 0
    throw error
  }
}
