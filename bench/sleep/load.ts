// Requests as fast as they are answered, over plain sockets, so that the sender costs little beside what is measured.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'

export interface Target {
  readonly port: number
  readonly path: string
  readonly token?: string
}

export interface Load {
  readonly perSecond: number
  readonly latenciesMs: readonly number[]
}

const CONNECTIONS = 32
const END_OF_HEAD = '\r\n\r\n'

/** `bodyOf`: of the nth request. Whatever is not 200 ends the benchmark. */
export async function loaded(target: Target, ms: number, bodyOf: (n: number) => string): Promise<Load> {
  const latenciesMs: number[] = []
  const startedAt = performance.now()
  let sent = 0
  await Promise.all(
    Array.from({ length: CONNECTIONS }, () =>
      converse(target, () => (performance.now() - startedAt < ms ? bodyOf(sent++) : undefined), latenciesMs),
    ),
  )
  return { perSecond: (1000 * latenciesMs.length) / (performance.now() - startedAt), latenciesMs }
}

/** One connection, one request after the other, until there is no next body. */
async function converse(target: Target, next: () => string | undefined, latenciesMs: number[]): Promise<void> {
  const socket = connect({ port: target.port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  for (let body = next(); body !== undefined; body = next()) {
    const at = performance.now()
    socket.write(requestOf(target, body))
    for (let answer = ''; !isWhole(answer);) answer += String((await once(socket, 'data'))[0])
    latenciesMs.push(performance.now() - at)
  }
  socket.end()
  await once(socket, 'close')
}

const requestOf = ({ path, port, token }: Target, body: string): string =>
  [
    `POST ${path} HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    ...(token === undefined ? [] : [`authorization: Bearer ${token}`]),
    '',
    body,
  ].join('\r\n')

function isWhole(answer: string): boolean {
  const head = answer.indexOf(END_OF_HEAD)
  if (head === -1) return false
  assert(answer.startsWith('HTTP/1.1 200 '), answer)
  const [, length] = /\r\ncontent-length: (\d+)/i.exec(answer) ?? assert.fail(answer)
  return answer.length >= head + END_OF_HEAD.length + Number(length)
}
