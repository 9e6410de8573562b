// Serves the rooms' doors over HTTP. Stopping finishes the requests under way; requests that come meanwhile are told so.
import type { AddressInfo } from 'node:net'
import { hasCode, PacelineError, reasonOf } from '../kernel/errors.ts'
import { service, type Service } from '../kernel/service.ts'
import type { App } from './app.ts'

export { buildApp, type App, type Finding, type HttpParts } from './app.ts'
export { PartFailure, type Part } from './part.ts'

export interface HttpServer {
  readonly service: Service
  /** Where it listens; with port 0 the one that the system gave. */
  port(): number
}

export function httpServer(app: App, { host, port }: { host: string; port: number }): HttpServer {
  return {
    port: () => (app.server.address() as AddressInfo | null)?.port ?? port,
    service: service('http', {
      open: async () => {
        try {
          // For "localhost" Fastify opens a second server on ::1, whose requests in flight a stop does not wait for.
          await app.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port })
        } catch (error) {
          throw listenError(error, `${host}:${port}`)
        }
      },
      shut: () => app.close(),
    }),
  }
}

function listenError(error: unknown, address: string): PacelineError {
  if (hasCode(error, 'EADDRINUSE')) {
    return new PacelineError(
      'PACE_PORT_TAKEN',
      `Another program listens on ${address}; stop it, or set PACELINE_PORT to a free port.`,
      { cause: error },
    )
  }
  return new PacelineError('PACE_CONFIG', `Cannot listen on ${address} (PACELINE_HOST, PACELINE_PORT): ${reasonOf(error)}`, {
    cause: error,
  })
}
