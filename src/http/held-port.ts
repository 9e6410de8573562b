// A port that is taken before the store opens: opening may take long, and a taken port should be known at once. Whoever connects meanwhile
// is turned away, as before the start. It is let go right before the server listens.
import { once } from 'node:events'
import { createServer } from 'node:net'
import { hasCode, PacelineError, reasonOf } from '../kernel/errors.ts'

export interface Address {
  readonly host: string
  readonly port: number
  /** The variable that sets the port, if it is another than PACELINE_PORT. */
  readonly variable?: string
}

export interface HeldPort extends Address {
  release(): Promise<void>
}

export async function holdPort(address: Address): Promise<HeldPort> {
  const holder = createServer(socket => socket.destroy())
  // With port 0 the system gives a free one when the server listens.
  if (address.port !== 0) {
    try {
      await once(holder.listen({ host: hostOf(address), port: address.port }), 'listening')
    } catch (error) {
      throw listenError(error, address)
    }
  }
  return {
    ...address,
    release: async () => {
      if (!holder.listening) return
      holder.close()
      await once(holder, 'close')
    },
  }
}

/** For "localhost" Fastify would open a second server on ::1, whose requests in flight a stop does not wait for. */
export const hostOf = ({ host }: Address): string => (host === 'localhost' ? '127.0.0.1' : host)

export function listenError(error: unknown, { host, port, variable = 'PACELINE_PORT' }: Address): PacelineError {
  const address = `${host}:${port}`
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
