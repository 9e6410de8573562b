// An installation as a person has it: a folder, a server in it, the command line, and beside them a simulator in a process of its own, which
// agrees with the server on the time.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { SimulatorState } from '../../src/simulator/simulator.ts'
import type { VendorName } from '../../src/vendors/vendors.ts'
import { consent, type Decision } from '../consent.ts'
import { prepareFolder, testFolder } from '../stores.ts'
import { paceline, started, up, type Ended, type Running, type Settings, type Up } from './paceline.ts'

export interface InstallationOptions {
  readonly activities: number
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
  const time = { anchor: new Date().toISOString(), speed: speed === undefined ? [] : ['--speed', String(speed)] }
  const port = options.webhooks === true ? await freePort() : 0
  const simulator = await startSimulator(folder.path, options, time, port)
  opening.defer(async () => {
    assert.equal((await simulator.stop()).code, 0)
  })
  const settings = {
    PACELINE_CLOCK_ANCHOR: time.anchor,
    PACELINE_PORT: String(port),
    ...vendorSettings(simulator.found, vendors),
    ...options.settings,
  }
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
    ...asking(server.url, simulator.found),
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
      // Where time runs fast the vendor's code may have ended before it is exchanged; the athlete tries again.
      for (let left = 10; ; left--) {
        const page = await cli('connect', vendor, '--athlete', athleteId)
        const back = await fetch(await consent(fetch, page, decision), { redirect: 'manual' })
        const sentTo = back.headers.get('location')
        if (sentTo === '/') return
        assert(sentTo === '/?error=failed' && left > 0, `sent back to ${sentTo}`)
      }
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
  folder: string,
  { activities }: InstallationOptions,
  { anchor, speed }: { readonly anchor: string; readonly speed: readonly string[] },
  webhooksPort: number,
): Promise<Running & { readonly found: string }> {
  const hooks = webhooksPort === 0 ? [] : ['--webhooks', `http://127.0.0.1:${webhooksPort}/webhooks`]
  const words = ['simulate', '--port', '0', '--activities', String(activities), ...speed, ...hooks]
  return await started(folder, { PACELINE_CLOCK_ANCHOR: anchor }, words, /http:\/\/127\.0\.0\.1:\d+(?=;)/)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
