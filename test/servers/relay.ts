// A TCP relay whose far end can be changed: connections made before stay where they led.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'

export interface Relay {
  readonly port: number
  close(): void
}

/** `to`: the port on this machine to which the next connection leads. */
export async function startRelay(to: () => number): Promise<Relay> {
  const server = createServer(near => {
    const far = connect(to(), '127.0.0.1')
    for (const socket of [near, far]) socket.on('error', () => void (near.destroy(), far.destroy()))
    near.pipe(far).pipe(near)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() }
}
