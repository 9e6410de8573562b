// The simulated vendors over HTTP, in the process of the test: what they heard outlives the program that asked.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { openSimulator, type Simulator, type SimulatorOptions } from '../../src/simulator/simulator.ts'

export interface HeardVendor {
  readonly url: string
  readonly simulator: Simulator
  /** Every request for Strava's data, in the order of arrival: `/activities/1`, `/athlete/activities?page=1&per_page=200`. */
  readonly heard: readonly string[]
  close(): Promise<void>
}

const DATA = '/strava/api/v3'

export async function openHeardVendor(options: SimulatorOptions): Promise<HeardVendor> {
  const heard: string[] = []
  const server = createServer((incoming, response) => {
    const path = incoming.url ?? '/'
    if (path.startsWith(DATA)) heard.push(path.slice(DATA.length))
    pass(simulator, url, incoming, response).catch(() => {
      // Who asked was killed meanwhile.
      response.destroy()
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const simulator = openSimulator({ ...options, publicUrl: url })
  return {
    url,
    simulator,
    heard,
    close: async () => {
      await simulator.close()
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
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
