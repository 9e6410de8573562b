// Somebody else's program on the bus: the bare library and no code of ours. argv: the address of a NATS server. Every line that comes in is
// a request in JSON, and is answered by a line; bytes are in base64.
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect, headers } from '@nats-io/transport-node'
import { createInterface } from 'node:readline'

interface Request {
  readonly publish?: { readonly subject: string; readonly data: string; readonly headers: Readonly<Record<string, string>> }
  /** All messages of a stream. */
  readonly read?: string
  readonly durable?: { readonly stream: string; readonly name: string }
}

const [, , servers = ''] = process.argv
const connection = await connect({ servers, timeout: 60_000, maxReconnectAttempts: -1 })
const manager = await jetstreamManager(connection, { timeout: 60_000 })

async function publish({ subject, data, headers: given }: NonNullable<Request['publish']>): Promise<unknown> {
  const names = Object.entries(given)
  const made = headers()
  for (const [name, value] of names) made.set(name, value)
  const more = names.length > 0 ? { headers: made } : {}
  const { seq } = await jetstream(connection).publish(subject, Buffer.from(data, 'base64'), { timeout: 60_000, ...more })
  return { seq }
}

async function read(stream: string): Promise<unknown> {
  const { state } = await manager.streams.info(stream)
  const found = []
  // A stream that never had a message begins at 0.
  for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq++) {
    const message = await manager.streams.getMessage(stream, { seq })
    if (message === null) continue
    const names = message.header?.keys() ?? []
    const said = Object.fromEntries(names.map(name => [name, message.header?.get(name)]))
    found.push({ seq, subject: message.subject, headers: said, data: Buffer.from(message.data).toString('base64') })
  }
  return found
}

async function answerTo(request: Request): Promise<unknown> {
  if (request.publish !== undefined) return await publish(request.publish)
  if (request.read !== undefined) return await read(request.read)
  return await manager.consumers.info(request.durable?.stream ?? '', request.durable?.name ?? '')
}

process.stdout.write('ready\n')
for await (const line of createInterface({ input: process.stdin })) {
  const answer = await answerTo(JSON.parse(line) as Request)
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}
