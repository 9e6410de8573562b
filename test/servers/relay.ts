// A TCP relay whose far end can be changed, or is far away: connections made before stay where they led.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export interface Relay {
  readonly port: number
  close(): void
}

/** `to`: the port on this machine to which the next connection leads; `oneWayMs`: how long everything takes on its way there, and back. */
export async function startRelay(to: () => number, oneWayMs = 0): Promise<Relay> {
  const server = createServer(near => {
    const far = connect(to(), '127.0.0.1')
    for (const socket of [near, far]) socket.on('error', () => void (near.destroy(), far.destroy()))
    if (oneWayMs === 0) near.pipe(far).pipe(near)
    else
      for (const [from, into] of [
        [near, far],
        [far, near],
      ] as const)
        late(from, into, oneWayMs)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() }
}

function late(from: Socket, into: Socket, ms: number): void {
  from.on('data', chunk => void setTimeout(() => void (into.writable && into.write(chunk)), ms))
  from.on('close', () => void setTimeout(() => into.destroy(), ms))
}
