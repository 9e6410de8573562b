// An installation as a person has it: a folder, a server in it, the command line, and beside them a simulator in a process of its own, which
// agrees with the server on the time.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { SimulatorState } from '../../src/simulator/simulator.ts'
import type { VendorName } from '../../src/vendors/vendors.ts'
import { comeBack, consent, type Decision } from '../consent.ts'
import { startRelay } from '../servers/relay.ts'
import { prepareFolder, testFolder } from '../stores.ts'
import { paceline, started, up, type Ended, type Settings, type Up } from './paceline.ts'

export interface InstallationOptions {
  /** Of the simulator's athlete. */
  readonly activities?: number
  /** A simulator that the test runs itself, and the instant at which its clock's fast time and real time are equal. */
  readonly simulated?: { readonly url: string; readonly anchor: number }
  /** Those with credentials; Strava unless said. */
  readonly vendors?: readonly VendorName[]
  /** How fast time runs; as it does unless said. */
  readonly speed?: number
  /** The simulator sends webhooks to the server. */
  readonly webhooks?: boolean
  readonly settings?: Settings
  readonly roles?: string
}

export type Headers = Readonly<Record<string, string>>

export interface Athlete {
  readonly id: string
  readonly headers: Headers
}

export interface Commands {
  /** Runs one command to its end. */
  run(...words: string[]): Promise<Ended>
  /** What it prints. */
  cli(...words: string[]): Promise<string>
  /** A new one, with a token. */
  athlete(): Promise<Athlete>
  /** The athlete consents on the vendor's page and is sent back. */
  connect(athleteId: string, vendor?: VendorName, decision?: Decision): Promise<void>
}

export interface Installation extends Commands {
  readonly folder: string
  readonly settings: Settings
  readonly server: Up
  /** What the server answers. */
  ask<T>(headers: Headers, method: string, path: string, body?: object): Promise<T>
  readonly simulatorUrl: string
  simulatorState(): Promise<SimulatorState>
  /** Has the simulator do something: `faults`, `clock`, `strava/activities`. */
  control(path: string, body: object): Promise<void>
  stop(): Promise<void>
}

export async function install(options: InstallationOptions): Promise<Installation> {
  const { speed, roles, vendors = ['strava'] } = options
  await using opening = new AsyncDisposableStack()
  const folder = testFolder()
  opening.defer(() => {
    folder.remove()
  })
  if (options.settings?.['PACELINE_POSTGRES_URL'] === undefined) await prepareFolder(join(folder.path, '.paceline'))
  const time = {
    anchor: new Date(options.simulated?.anchor ?? Date.now()).toISOString(),
    speed: speed === undefined ? [] : ['--speed', String(speed)],
  }
  // The simulator is told where to send webhooks before the server has its port; the relay's is known first.
  const relay = options.webhooks === true ? await startRelay(() => Number(new URL(server.url).port)) : undefined
  opening.defer(() => relay?.close())
  const hooks = relay === undefined ? [] : ['--webhooks', `http://127.0.0.1:${relay.port}/webhooks`]
  const world = ['--activities', String(options.activities ?? 0), ...time.speed, ...hooks]
  const simulator = options.simulated?.url ?? (await startSimulator(opening, folder.path, world, time.anchor))
  const settings = { PACELINE_CLOCK_ANCHOR: time.anchor, ...vendorSettings(simulator, vendors), ...options.settings }
  const server = await up(folder.path, settings, ...time.speed, ...(roles === undefined ? [] : ['--roles', roles]))
  opening.defer(async () => {
    await server.stop()
  })
  const opened = opening.move()
  return {
    folder: folder.path,
    settings,
    server,
    ...commandsIn(folder.path, settings),
    ...asking(server.url, simulator),
    stop: () => opened.disposeAsync(),
  }
}

/** Credentials, and the simulator in place of the vendors' hosts. */
export const vendorSettings = (simulatorUrl: string, vendors: readonly VendorName[] = ['strava']): Settings =>
  Object.fromEntries(
    vendors.flatMap(name => [
      [`${name.toUpperCase()}_CLIENT_ID`, '1'],
      [`${name.toUpperCase()}_CLIENT_SECRET`, 'secret'],
      [`${name.toUpperCase()}_BASE_URL`, `${simulatorUrl}/${name}`],
    ]),
  )

/** The command line in a folder where a server runs. */
export function commandsIn(folder: string, settings: Settings): Commands {
  const run = async (...words: string[]): Promise<Ended> => await paceline(folder, settings, ...words)
  const cli = async (...words: string[]): Promise<string> => (await run(...words)).out.trim()
  return {
    run,
    cli,
    athlete: async () => {
      const { id } = JSON.parse(await cli('athlete', 'create', '--name', 'Ada', '--json')) as { id: string }
      const token = await cli('token', 'create', '--athlete', id)
      return { id, headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' } }
    },
    connect: async (athleteId, vendor = 'strava', decision = {}) => {
      const page = await cli('connect', vendor, '--athlete', athleteId)
      const back = await comeBack(fetch, await consent(fetch, page, decision))
      assert.equal(back.headers.get('location'), '/')
    },
  }
}

function asking(server: string, simulator: string): Pick<Installation, 'ask' | 'simulatorUrl' | 'simulatorState' | 'control'> {
  return {
    ask: async <T>(headers: Headers, method: string, path: string, body?: object) => {
      const answer = await fetch(`${server}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
      return (await answer.json()) as T
    },
    simulatorUrl: simulator,
    simulatorState: async () => (await (await fetch(`${simulator}/_sim/state`)).json()) as SimulatorState,
    control: async (path, body) => {
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(`${simulator}/_sim/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
      assert(answer.ok, await answer.text())
    },
  }
}

async function startSimulator(
  opening: AsyncDisposableStack,
  folder: string,
  world: readonly string[],
  anchor: string,
): Promise<string> {
  const words = ['simulate', '--port', '0', ...world]
  const simulator = await started(folder, { PACELINE_CLOCK_ANCHOR: anchor }, words, /http:\/\/127\.0\.0\.1:\d+(?=;)/)
  opening.defer(async () => {
    assert.equal((await simulator.stop()).code, 0)
  })
  return simulator.found
}
