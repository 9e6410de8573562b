// Runs a program of this folder as a process of its own and reads what it prints, line by line.
import assert from 'node:assert/strict'
import { spawn, type ChildProcess, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { discard, watch } from '../servers/reaper.ts'

/** What starts a program of ours. Optimising the embedded store's WebAssembly costs one that soon ends more than it gives it. */
export const NODE: readonly [string, ...string[]] = [process.execPath, '--liftoff-only']

export interface Child {
  readonly pid: number
  /** The next line; undefined when the program has ended. */
  line(): Promise<string | undefined>
  /** Gives it something to read. */
  write(text: string): void
  kill(signal?: NodeJS.Signals): Promise<void>
  /** Waits for its end and gives what was not read yet. */
  rest(): Promise<{ code: number | null; lines: string[] }>
}

/** Until it ends: a killed test run does not leave it running. */
export function watchChild(child: ChildProcess): void {
  assert(child.pid !== undefined, 'it did not start')
  // The reaper's list goes by folder. A child has none of its own, so one that is never made stands for it.
  const folder = join(tmpdir(), `paceline-child-${child.pid}`)
  watch({ folder, pid: child.pid })
  child.once('exit', () => {
    // Without the pid, which may be another process's by now.
    watch({ folder })
    discard(folder)
  })
}

export function startProgram(name: string, ...args: string[]): Child {
  const program = fileURLToPath(new URL(`./${name}.ts`, import.meta.url))
  const [node, ...flags] = NODE
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(node, [...flags, program, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  watchChild(child)
  const ended = once(child, 'close')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const line = async (): Promise<string | undefined> => {
    const next = await lines.next()
    return next.done === true ? undefined : next.value
  }
  return {
    pid: child.pid ?? 0,
    line,
    write: text => {
      child.stdin.write(text)
    },
    kill: async (signal = 'SIGKILL') => {
      child.kill(signal)
      await ended
    },
    rest: async () => {
      const rest: string[] = []
      for (let next = await line(); next !== undefined; next = await line()) rest.push(next)
      await ended
      return { code: child.exitCode, lines: rest }
    },
  }
}
