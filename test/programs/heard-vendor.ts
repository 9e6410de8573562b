// The simulated vendors over HTTP, in the process of the test: what they heard outlives the program that asked.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Clock } from '../../src/kernel/clock.ts'
import { openSimulator, type Simulator, type SimulatorOptions } from '../../src/simulator/simulator.ts'
import { until } from '../waiting.ts'

export interface HeardVendor {
  readonly url: string
  readonly simulator: Simulator
  /** Every request for Strava's data, in the order of arrival: `/activities/1`, `/athlete/activities?page=1&per_page=200`. */
  readonly heard: readonly string[]
  /** What a request for Strava's data waits for before it is looked at. */
  onRequest: (path: string) => Promise<void>
  close(): Promise<void>
}

const DATA = '/strava/api/v3'
const QUARTER_MS = 900_000

/** Lists nothing but early in a window, so that what is refused afterwards waits for most of one: long enough to be seen on any machine. */
export function listEarly(vendor: HeardVendor, clock: Clock): void {
  const isEarly = (): boolean => {
    const sinceMs = clock.now() % QUARTER_MS
    // Just after an edge a refusal may speak of the window before.
    return sinceMs > QUARTER_MS / 20 && sinceMs < QUARTER_MS / 5
  }
  vendor.onRequest = async path => {
    if (path.startsWith('/athlete/activities')) await until(isEarly)
  }
}

export async function openHeardVendor(options: SimulatorOptions): Promise<HeardVendor> {
  const heard: string[] = []
  const server = createServer((incoming, response) => {
    const path = incoming.url ?? '/'
    const asked = path.startsWith(DATA) ? path.slice(DATA.length) : undefined
    if (asked !== undefined) heard.push(asked)
    const ready = asked === undefined ? Promise.resolve() : vendor.onRequest(asked)
    ready
      .then(() => pass(simulator, url, incoming, response))
      .catch(() => {
        // Who asked was killed meanwhile.
        response.destroy()
      })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const simulator = openSimulator({ ...options, publicUrl: url })
  const vendor: HeardVendor = {
    url,
    simulator,
    heard,
    onRequest: () => Promise.resolve(),
    close: async () => {
      await simulator.close()
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
  return vendor
}

async function pass(simulator: Simulator, base: string, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = 'GET', url = '/', headers } = incoming
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const sent = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as [string, string]] : [],
  )
  const answer = await simulator.fetch(`${base}${url}`, {
    method,
    headers: sent,
    redirect: 'manual',
    ...(hasBody && { body: new Uint8Array(await buffer(incoming)) }),
  })
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  response.end(Buffer.from(await answer.arrayBuffer()))
}
