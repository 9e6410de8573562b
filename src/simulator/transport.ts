// How a reply travels: as a Response inside the process, or over a socket. Faults feel the same both ways: a hang never answers,
// a reset is a network error, a truncated body ends before its content-length.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tell } from '../kernel/channels.ts'
import { hasCode, PacelineError } from '../kernel/errors.ts'
import type { Answer } from './answer.ts'
import { half, type Reply } from './pipeline.ts'

type Respond = (request: Request) => Promise<Reply>

const bytesOf = (body: string | Uint8Array): Buffer => (typeof body === 'string' ? Buffer.from(body) : Buffer.from(body))

const hasNoBody = (status: number): boolean => status === 204 || status === 304

/** The error with which fetch fails when the network does. */
const networkError = (message: string, code: string): TypeError =>
  new TypeError(message, { cause: Object.assign(new Error(code), { code }) })

export async function toResponse(reply: Reply, signal: AbortSignal): Promise<Response> {
  switch (reply.how) {
    case 'hang':
      return await untilAborted(signal)
    case 'reset':
      throw networkError('fetch failed', 'ECONNRESET')
    case 'truncated':
      return new Response(brokenStream(reply.answer), { status: reply.answer.status, headers: headersOf(reply.answer) })
    case 'answer': {
      const { answer } = reply
      return new Response(hasNoBody(answer.status) ? null : bytesOf(answer.body), {
        status: answer.status,
        headers: headersOf(answer),
      })
    }
    default:
      return reply
  }
}

const headersOf = ({ headers, body, status }: Answer): Record<string, string> =>
  hasNoBody(status) ? { ...headers } : { ...headers, 'content-length': String(bytesOf(body).length) }

function brokenStream({ body }: Answer): ReadableStream<Uint8Array> {
  let isSent = false
  return new ReadableStream({
    pull: controller => {
      if (isSent) controller.error(networkError('terminated', 'UND_ERR_SOCKET'))
      else controller.enqueue(new Uint8Array(half(body)))
      isSent = true
    },
  })
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = (): void => reject(signal.reason as Error)
    if (signal.aborted) fail()
    else signal.addEventListener('abort', fail, { once: true })
  })
}

export interface Listening {
  readonly url: string
  close(): Promise<void>
}

/** Port 0 takes a free port. */
export async function listen(
  respond: Respond,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Listening> {
  const server = createServer((incoming, response) => {
    serveHttp(respond, incoming, response).catch((error: unknown) => {
      tell('paceline:fault', { where: 'simulator', error })
      incoming.socket.destroy()
    })
  })
  await opened(server, host, port)
  const { port: taken } = server.address() as AddressInfo
  return {
    url: `http://${host}:${taken}`,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function opened(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', error => {
      reject(
        hasCode(error, 'EADDRINUSE')
          ? new PacelineError('PACE_PORT_TAKEN', `Another program listens on ${host}:${port}.`, { cause: error })
          : error,
      )
    })
    server.listen(port, host, resolve)
  })
}

async function serveHttp(respond: Respond, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const reply = await respond(await requestOf(incoming, gone.signal)).catch((error: unknown) => {
    // A caller who hung up while waiting is no error.
    if (gone.signal.aborted) return undefined
    throw error
  })
  if (reply === undefined || reply.how === 'hang') return
  if (reply.how === 'reset') {
    incoming.socket.resetAndDestroy()
    return
  }
  response.writeHead(reply.answer.status, headersOf(reply.answer))
  if (reply.how === 'answer') response.end(hasNoBody(reply.answer.status) ? undefined : bytesOf(reply.answer.body))
  else response.write(half(reply.answer.body), () => incoming.socket.destroy())
}

async function requestOf(incoming: IncomingMessage, signal: AbortSignal): Promise<Request> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks)
  const headers = Object.entries(incoming.headersDistinct).flatMap(([name, values]) =>
    (values ?? []).map(value => [name, value] as [string, string]),
  )
  const method = incoming.method ?? 'GET'
  return new Request(new URL(incoming.url ?? '/', `http://${incoming.headers.host ?? 'localhost'}`), {
    method,
    headers,
    ...(body.length > 0 && method !== 'GET' && method !== 'HEAD' ? { body } : {}),
    signal,
  })
}
