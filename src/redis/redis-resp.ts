// Redis over its own protocol, through ioredis. The client connects and reconnects by itself and never queues: a command
// sent while there is no connection fails at once, and one that was sent is never sent again, because it may have run.
import { Redis as IoRedis } from 'ioredis'
import { reasonOf } from '../kernel/errors.ts'
import { Outage } from './outage.ts'
import { RedisOverWire, type Wire } from './redis-wire.ts'
import type { Redis, RedisOptions } from './redis.ts'

const DEADLINE_MS = 200
// Enough for a connection, a handshake and a server that is loading its data. A program that has no connection by then starts
// without Redis.
const OPEN_WAIT_MS = 1000

export async function openRedisResp(url: URL, { token, clock, deadlineMs = DEADLINE_MS }: RedisOptions): Promise<Redis> {
  const outage = new Outage(url, token)
  const client = new IoRedis(url.href, {
    enableOfflineQueue: false,
    commandTimeout: deadlineMs,
    connectTimeout: deadlineMs,
    // A connection over which nothing at all comes back is replaced; a slow server keeps its own.
    socketTimeout: 5 * deadlineMs,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    retryStrategy: attempt => Math.min(50 * 2 ** attempt, 1000),
  })
  client.on('error', (error: unknown) => {
    outage.begin(reasonOf(error))
  })
  let connections = 0
  client.on('ready', () => {
    connections += 1
    outage.end()
  })
  await firstAttempt(client, clock.deadline(OPEN_WAIT_MS))
  return new RedisOverWire({ ...wireOf(client, outage, deadlineMs), connections: () => connections }, outage)
}

function firstAttempt(client: IoRedis, patience: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    client.once('ready', resolve)
    client.once('close', resolve)
    patience.addEventListener('abort', () => {
      resolve()
    })
  })
}

/** All commands of one turn of the event loop leave in one write: with many in flight, writing is most of the cost. */
function gathering(client: IoRedis): () => void {
  let isOpen = false
  return () => {
    if (isOpen) return
    const { stream } = client
    stream.cork()
    isOpen = true
    process.nextTick(() => {
      isOpen = false
      stream.uncork()
    })
  }
}

function wireOf(client: IoRedis, outage: Outage, deadlineMs: number): Omit<Wire, 'connections'> {
  const gather = gathering(client)
  return {
    deadlineMs,
    send: async ([name = '', ...args]) => {
      try {
        gather()
        return { result: await client.call(name, args) }
      } catch (error) {
        if (error instanceof Error && error.name === 'ReplyError') return { refusal: error.message }
        throw new Error(whyUnanswered(error, outage, deadlineMs), { cause: error })
      }
    },
    close: () => {
      client.disconnect()
      return Promise.resolve()
    },
  }
}

// Without a connection ioredis only says that its stream is not writable; the reason is the error of its last attempt.
function whyUnanswered(error: unknown, outage: Outage, deadlineMs: number): string {
  if (reasonOf(error) === 'Command timed out') return `no answer within ${deadlineMs} ms`
  return outage.reason ?? 'there is no connection'
}
