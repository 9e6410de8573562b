// Serves the rooms' doors over HTTP. Stopping finishes the requests under way; requests that come meanwhile are told so.
import type { AddressInfo } from 'node:net'
import { hasCode, PacelineError, reasonOf } from '../kernel/errors.ts'
import { service, type Service } from '../kernel/service.ts'
import type { App } from './app.ts'

export { buildApp, buildHealthApp, type App, type Finding, type HealthParts, type HttpParts } from './app.ts'
export { PartFailure, type Part } from './part.ts'

export interface HttpServer {
  readonly service: Service
  /** Where it listens; with port 0 the one that the system gave. */
  port(): number
}

interface Address {
  readonly host: string
  readonly port: number
  /** The service's name, and the variable that sets the port. */
  readonly name?: string
  readonly variable?: string
}

export function httpServer(app: App, { host, port, name = 'http', variable = 'PACELINE_PORT' }: Address): HttpServer {
  return {
    port: () => (app.server.address() as AddressInfo | null)?.port ?? port,
    service: service(name, {
      open: async () => {
        try {
          // For "localhost" Fastify opens a second server on ::1, whose requests in flight a stop does not wait for.
          await app.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port })
        } catch (error) {
          throw listenError(error, `${host}:${port}`, variable)
        }
      },
      shut: () => app.close(),
    }),
  }
}

function listenError(error: unknown, address: string, variable: string): PacelineError {
  if (hasCode(error, 'EADDRINUSE')) {
    return new PacelineError(
      'PACE_PORT_TAKEN',
      `Another program listens on ${address}; stop it, or set ${variable} to a free port.`,
      { cause: error },
    )
  }
  return new PacelineError('PACE_CONFIG', `Cannot listen on ${address} (PACELINE_HOST, ${variable}): ${reasonOf(error)}`, {
    cause: error,
  })
}
