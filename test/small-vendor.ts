// A Strava of short streams on a real port, for tests of many processes and many rows: the simulator's whole ones would be most of
// their time. It counts what it is asked for, and answers nothing while it is held.
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface SmallVendor {
  readonly url: string
  /** The external ids whose streams were asked for, in order. */
  readonly asked: readonly string[]
  /** While true nothing is answered. */
  hold(held: boolean): void
  close(): Promise<void>
}

const stream = (data: readonly number[]) => ({ data, series_type: 'time', original_size: data.length, resolution: 'high' })
const STREAMS = JSON.stringify({ time: stream([0, 1, 2]), heartrate: stream([120, 121, 122]) })
/** It counts nothing, and says so. */
const LIMITS = {
  'content-type': 'application/json',
  'x-readratelimit-limit': '5000,50000',
  'x-readratelimit-usage': '1,1',
  'x-ratelimit-limit': '5000,50000',
  'x-ratelimit-usage': '1,1',
}

export async function startSmallVendor(): Promise<SmallVendor> {
  const asked: string[] = []
  const held: ServerResponse[] = []
  let isHeld = false
  const answer = (response: ServerResponse): void => {
    response.writeHead(200, LIMITS).end(STREAMS)
  }
  const server = createServer((request, response) => {
    asked.push(/activities\/(\d+)\/streams/.exec(request.url ?? '')?.[1] ?? '')
    if (isHeld) held.push(response)
    else answer(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    hold: next => {
      isHeld = next
      if (!next) held.splice(0).forEach(answer)
    },
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
