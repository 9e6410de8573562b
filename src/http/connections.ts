// How connections end. A stop finishes the requests in flight, refuses new ones and closes the connections that carry none. Node
// alone would wait for those: it counts a connection that has sent nothing, or half a request, as busy, and drops its own time
// limits when it closes, so a browser's spare connection would hold up the stop for ever. What is not HTTP gets an error in our
// shape too.
import { STATUS_CODES, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../kernel/clock.ts'
import { PacelineError } from '../kernel/errors.ts'
import type { App } from './app.ts'
import { bodyOf } from './failures.ts'

/** Containers are killed 10 s after they were asked to stop; the other half is for everything that stops after us. */
const STOP_GRACE_MS = 5_000

/** Who is answered before the body has come gets so long to read the answer: cut at once, many clients would never see it. */
const LINGER_MS = 5_000

export const connectionLimits = {
  /** For a request to arrive whole: the largest body taken, 100 MB, on a line of 1 MB/s. Slower is a slow-loris. */
  requestTimeout: 120_000,
  /** Without a byte in either direction. The longest silence of our own is a reader's 30 s wait for streams. */
  connectionTimeout: 120_000,
  /** Longer than the 60 s after which proxies usually close an idle connection: if we closed first, a request could meet a closed connection. */
  keepAliveTimeout: 72_000,
}

export function endConnections(app: App, clock: Clock): void {
  const open = new Set<Socket>()
  const answering = new Set<ServerResponse>()
  let stopping = false
  app.server.on('connection', socket => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    if (stopping) socket.destroy()
  })
  app.server.on('request', (request, response) => {
    answering.add(response)
    response.once('close', () => {
      answering.delete(response)
      // Node throws away what still comes of the body.
      if (!request.complete)
        clock.deadline(LINGER_MS).addEventListener('abort', () => request.complete || request.socket.destroy())
    })
  })
  app.addHook('preClose', done => {
    stopping = true
    const busy = new Set([...answering].map(response => response.req.socket))
    for (const socket of open) if (!busy.has(socket)) socket.destroy()
    clock.deadline(STOP_GRACE_MS).addEventListener('abort', () => {
      for (const socket of open) socket.destroy()
    })
    done()
  })
  app.addHook('onRequest', (_request, _reply, done) => {
    done(stopping ? new PacelineError('PACE_STOPPING', 'Paceline is stopping; try again in a moment.') : undefined)
  })
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (stopping) reply.header('connection', 'close')
    done(null, payload)
  })
}

const CLIENT_ERRORS: Readonly<Record<string, readonly [status: number, failure: PacelineError]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, new PacelineError('PACE_BAD_REQUEST', 'The request did not arrive in time.')],
  HPE_HEADER_OVERFLOW: [431, new PacelineError('PACE_TOO_LARGE', 'The headers are too large.')],
}
const NOT_HTTP = [400, new PacelineError('PACE_BAD_REQUEST', 'The request is not HTTP.')] as const

export function onClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [status, failure] = CLIENT_ERRORS[error.code ?? ''] ?? NOT_HTTP
  const body = bodyOf(failure)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
