// What a process that has just started uses over a minute, once it has settled, as Linux counts it.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Rest {
  readonly cpuPercent: number
  /** Resident, at the end. */
  readonly memoryMb: number
}

export const WATCH_MS = 60_000
/** A start's compilation goes on for a while. */
export const SETTLE_MS = 15_000

const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

/** Behind the name in brackets, which may hold blanks, user and system time are the 12th and 13th field. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

export const memoryMb = (pid: number): number => statusMb(pid, /^VmRSS:\s+(\d+)/m)

/** The most that was ever resident. */
export const peakMemoryMb = (pid: number): number => statusMb(pid, /^VmHWM:\s+(\d+)/m)

function statusMb(pid: number, line: RegExp): number {
  const [, kilobytes] = line.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1024
}

export async function restOf(pid: number): Promise<Rest> {
  await sleep(SETTLE_MS)
  const [cpuBefore, startedAt] = [cpuSeconds(pid), performance.now()]
  await sleep(WATCH_MS)
  const seconds = (performance.now() - startedAt) / 1000
  return { cpuPercent: (100 * (cpuSeconds(pid) - cpuBefore)) / seconds, memoryMb: memoryMb(pid) }
}
