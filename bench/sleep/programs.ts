// The processes that this benchmark starts, as they run in production: with the log going to a file, and without a test's flags for Node.
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { announcedIn } from '../../src/cli/announcement.ts'
import { watchChild } from '../../test/programs/child.ts'
import { environment, startedBy, type Running, type Settings } from '../../test/programs/paceline.ts'
import { testFolder } from '../../test/stores.ts'

export const INGEST_TOKEN = `pace_ingest_${'b'.repeat(43)}`

export interface Program {
  readonly pid: number
  stop(): Promise<void>
}

export interface Listening extends Program {
  readonly port: number
}

/** Paceline, serving its API. */
export async function serving(settings: Settings, ...words: string[]): Promise<Listening> {
  const folder = testFolder()
  const log = openSync(join(folder.path, 'log'), 'a')
  const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
  const child = spawn(process.execPath, [main, 'up', '--demo', 'off', ...words], {
    cwd: folder.path,
    env: environment({ PACELINE_PORT: '0', PACELINE_INGEST_TOKEN: INGEST_TOKEN, ...settings }),
    stdio: ['ignore', log, 'inherit'],
  })
  closeSync(log)
  watchChild(child)
  let url: string | undefined
  for (; url === undefined; url = announcedIn(join(folder.path, '.paceline'))) {
    assert.equal(child.exitCode, null, 'Paceline has ended')
    await sleep(100)
  }
  return { pid: child.pid ?? 0, port: Number(new URL(url).port), stop: () => ended(child, () => folder.remove()) }
}

const started = startedBy([process.execPath])

/** Paceline in one role, which does not listen. */
export async function working(role: string, settings: Settings): Promise<Program> {
  const folder = testFolder()
  const running: Running = await started(folder.path, settings, ['up', '--roles', role], /does not listen/)
  return {
    pid: running.pid,
    stop: async () => {
      await running.stop()
      folder.remove()
    },
  }
}

/** A bare program of this folder; it prints a line when it is ready. */
export async function bare(name: string, ...args: string[]): Promise<Program & { readonly line: string }> {
  const program = fileURLToPath(new URL(`./${name}.ts`, import.meta.url))
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  watchChild(child)
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  return { pid: child.pid ?? 0, line: String(line), stop: () => ended(child, () => undefined) }
}

async function ended(child: ChildProcess, cleanUp: () => void): Promise<void> {
  const closed = once(child, 'close')
  child.kill('SIGTERM')
  await closed
  cleanUp()
}
