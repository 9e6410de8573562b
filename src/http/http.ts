// Serves the rooms' doors over HTTP. Stopping finishes the requests under way; requests that come meanwhile are told so.
import type { AddressInfo } from 'node:net'
import { service, type Service } from '../kernel/service.ts'
import type { App } from './app.ts'
import { hostOf, listenError, type Address, type HeldPort } from './held-port.ts'

export { buildApp, buildHealthApp, type App, type Finding, type HealthParts, type HttpParts } from './app.ts'
export { holdPort, type HeldPort } from './held-port.ts'
export { PartFailure, type Part } from './part.ts'

export interface HttpServer {
  readonly service: Service
  /** Where it listens; with port 0 the one that the system gave. */
  port(): number
}

/** `address`: one that is held is let go first. */
export function httpServer(app: App, address: Address & Partial<HeldPort>, name = 'http'): HttpServer {
  return {
    port: () => (app.server.address() as AddressInfo | null)?.port ?? address.port,
    service: service(name, {
      open: async () => {
        await address.release?.()
        try {
          await app.listen({ host: hostOf(address), port: address.port })
        } catch (error) {
          throw listenError(error, address)
        }
      },
      shut: () => app.close(),
    }),
  }
}
