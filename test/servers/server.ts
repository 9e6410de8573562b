// Runs a real server for the tests: on a free port, with its own folder, until it is stopped. `start` and `restart` resolve when
// this very server answers, not another one that took its port. How each server is called and asked is its recipe's business;
// cleaning up after a test that died is the reaper's.
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { chown, mkdtemp } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { reasonOf } from '../../src/kernel/errors.ts'
import { discard, watch } from './reaper.ts'
import { isAlive, standsStill, signal, signalFamily } from './remains.ts'

export interface TestServer {
  readonly url: string
  readonly port: number
  /** Its data and its log. */
  readonly folder: string
  /** Of the process that runs now; another one after a restart. */
  readonly pid: number
  /** Ends it in its own time and deletes its data. */
  stop(): Promise<void>
  /** `kill -9` of all its processes; the data stays. */
  kill(): Promise<void>
  /** Ends it in its own time; the data stays. */
  halt(): Promise<void>
  /** After `kill` or `halt`: the same port, the same data. */
  restart(): Promise<void>
  /** Its processes stand still: connections stay open and nothing answers. */
  freeze(): Promise<void>
  thaw(): void
}

export interface Place {
  readonly folder: string
  readonly port: number
}

export interface Command {
  readonly command: string
  readonly args: readonly string[]
}

export interface Recipe {
  readonly name: string
  readonly command: string
  readonly user?: { readonly uid: number; readonly gid: number } | undefined
  readonly haltSignal: NodeJS.Signals
  url(port: number): string
  /** Fills the folder, once. */
  prepare?(folder: string): Command
  args(place: Place): readonly string[]
  /** True when the server at this place answers and is the process with this pid. */
  answers(place: Place, pid: number): Promise<boolean>
}

const POLL_MS = 20
// Looks, not seconds: a look is work, of which a busy machine does less, and a busy machine is not a broken server. On an idle one
// they take five minutes and two.
const ANSWER_LOOKS = 15_000
const HALT_LOOKS = 6_000

export async function startServer(recipe: Recipe): Promise<TestServer> {
  const folder = await mkdtemp(join(tmpdir(), `paceline-${recipe.name}-`))
  watch({ folder })
  try {
    if (recipe.user) await chown(folder, recipe.user.uid, recipe.user.gid)
    await prepare(recipe, folder)
    return await startOnFreePort(recipe, folder)
  } catch (error) {
    discard(folder)
    throw error
  }
}

async function startOnFreePort(recipe: Recipe, folder: string): Promise<TestServer> {
  for (let attempt = 1; attempt <= 5; attempt++) {
    const place = { folder, port: await freePort() }
    const launched = await launch(recipe, place)
    if (launched !== 'port taken') return running(recipe, place, launched)
  }
  throw new Error(`${recipe.name} lost five free ports in a row to other programs`)
}

/**
 * Below the range from which the kernel takes ports for outgoing connections: a client that keeps trying a killed server there
 * is one day given that very port, connects to itself, and the server cannot come back.
 */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 22_000)
    const server = createServer()
    const isFree = await new Promise<boolean>(resolve => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}

const logPath = (folder: string): string => join(folder, 'server.log')
const endOfLog = (folder: string): string => readFileSync(logPath(folder), 'utf8').slice(-4000)
const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null

async function launch(recipe: Recipe, place: Place): Promise<ChildProcess | 'port taken'> {
  const child = await spawnIn(place.folder, { command: recipe.command, args: recipe.args(place) }, recipe.user)
  assert(child.pid !== undefined)
  let reason = 'it was never asked'
  for (let looks = 0; !hasEnded(child) && looks < ANSWER_LOOKS; looks++) {
    try {
      if (await recipe.answers(place, child.pid)) return child
      reason = 'another program answers on its port'
    } catch (error) {
      reason = reasonOf(error)
    }
    await sleep(POLL_MS)
  }
  const log = endOfLog(place.folder)
  if (hasEnded(child) && /address already in use/i.test(log)) return 'port taken'
  throw new Error(`${recipe.name} did not start on port ${place.port} (${reason}); its log ends:\n${log}`)
}

async function prepare(recipe: Recipe, folder: string): Promise<void> {
  const command = recipe.prepare?.(folder)
  if (!command) return
  const child = await spawnIn(folder, command, recipe.user)
  await within(ANSWER_LOOKS, () => hasEnded(child))
  if (child.exitCode !== 0) throw new Error(`${command.command} failed; its log ends:\n${endOfLog(folder)}`)
}

async function spawnIn(folder: string, { command, args }: Command, user: Recipe['user']): Promise<ChildProcess> {
  // A file, not a pipe: a server must not stall because a test does not read its log.
  const log = openSync(logPath(folder), 'w')
  const child = spawn(command, args, {
    // Detached, so that Ctrl-C in a terminal leaves the ending to stop() and the reaper.
    detached: true,
    stdio: ['ignore', log, log],
    cwd: folder,
    // Nothing of ours may change what a server does: PGPORT, PGDATA, TZ …
    env: { PATH: process.env.PATH, LC_ALL: 'C' },
    ...user,
  })
  closeSync(log)
  child.unref()
  await once(child, 'spawn')
  watch({ folder, pid: child.pid })
  return child
}

function running(recipe: Recipe, place: Place, first: ChildProcess): TestServer {
  let child = first
  let stopped: Promise<void> | undefined

  const pid = (): number => {
    assert(child.pid !== undefined && !hasEnded(child), `${recipe.name} does not run now`)
    return child.pid
  }
  const kill = async (): Promise<void> => {
    const family = signalFamily(pid(), 'SIGKILL')
    const isDead = await within(HALT_LOOKS, () => hasEnded(child) && !family.some(isAlive))
    assert(isDead, `${recipe.name} survived kill -9`)
    watch({ folder: place.folder })
  }
  const halt = async (): Promise<void> => {
    signalFamily(pid(), 'SIGCONT')
    signal(pid(), recipe.haltSignal)
    if (!(await within(HALT_LOOKS, () => hasEnded(child)))) return kill()
    watch({ folder: place.folder })
  }
  const stop = async (): Promise<void> => {
    if (!hasEnded(child)) await halt()
    discard(place.folder)
  }
  return {
    url: recipe.url(place.port),
    ...place,
    get pid() {
      return pid()
    },
    kill,
    halt,
    stop: () => (stopped ??= stop()),
    restart: async () => {
      assert(hasEnded(child) && !stopped, `${recipe.name} runs already or was stopped for good`)
      child = await relaunch(recipe, place)
    },
    freeze: async () => {
      const family = signalFamily(pid(), 'SIGSTOP')
      // The signal is on its way for a moment, in which a last answer may still come.
      assert(await within(HALT_LOOKS, () => family.every(standsStill)), `${recipe.name} does not freeze`)
    },
    thaw: () => void signalFamily(pid(), 'SIGCONT'),
  }
}

async function relaunch(recipe: Recipe, place: Place): Promise<ChildProcess> {
  for (let looks = 0; looks < ANSWER_LOOKS; looks++, await sleep(POLL_MS)) {
    const launched = await launch(recipe, place)
    if (launched !== 'port taken') return launched
  }
  throw new Error(`${recipe.name} cannot come back: another program keeps its port ${place.port}`)
}

// Polls, because the server is unreferenced and waiting for its exit event would not keep the process alive.
async function within(mostLooks: number, holds: () => boolean): Promise<boolean> {
  for (let looks = 1; !holds(); looks++, await sleep(POLL_MS)) {
    if (looks > mostLooks) return false
  }
  return true
}
