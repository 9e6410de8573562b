// The Redis port's contract on both adapters, and what only one of them can meet.
import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import { connect, createServer as createProxy, type AddressInfo, type Socket } from 'node:net'
import { test } from 'node:test'
import { text } from 'node:stream/consumers'
import { Redis as Client } from 'ioredis'
import { SystemClock } from '../../src/kernel/clock.ts'
import { openRedis, type Redis } from '../../src/redis/redis.ts'
import { redisContract } from '../contract/redis.contract.ts'
import { startRedis } from '../servers/redis.ts'
import { eventually } from '../waiting.ts'

const clock = new SystemClock()
/** A machine with other work to do is not an outage. */
const PATIENT_MS = 120_000

redisContract('RESP', async () => {
  const server = await startRedis()
  return {
    server,
    open: ({ secret, ...more } = {}) => {
      const url = new URL(server.url)
      if (secret !== undefined) url.password = secret
      return openRedis({ url: url.href, clock, ...more })
    },
    stop: () => server.stop(),
  }
})

redisContract('REST', async () => {
  const server = await startRedis()
  const token = 'the-right-token'
  const bridge = await startBridge(server.url, token)
  return {
    server,
    open: ({ secret, ...more } = {}) => openRedis({ url: bridge.url, token: secret ?? token, clock, ...more }),
    stop: async () => {
      await bridge.stop()
      await server.stop()
    },
  }
})

interface Site {
  readonly url: string
  stop(): Promise<void>
}

/** Upstash's REST interface in front of the real server: there is no Upstash to run here. */
async function startBridge(redisUrl: string, token: string): Promise<Site> {
  const client = new Client(redisUrl, { enableOfflineQueue: false, maxRetriesPerRequest: 0, retryStrategy: () => 50 })
  // Each failed command says it again.
  client.on('error', () => undefined)
  await new Promise(resolve => client.once('ready', resolve))
  const answer = async (authorization: string | undefined, body: string): Promise<[number, object]> => {
    // Echoes what it was sent, as careless servers do.
    if (authorization !== `Bearer ${token}`) return [401, { error: `Unauthorized: ${authorization}` }]
    const [name = '', ...args] = JSON.parse(body) as string[]
    try {
      return [200, { result: await client.call(name, args) }]
    } catch (error) {
      assert(error instanceof Error)
      return [error.name === 'ReplyError' ? 400 : 503, { error: error.message }]
    }
  }
  const site = await listen(
    createServer((request, response) => {
      void text(request)
        .then(body => answer(request.headers.authorization, body))
        .then(([status, body]) => response.writeHead(status).end(JSON.stringify(body)))
    }),
  )
  return {
    url: site.url,
    stop: async () => {
      client.disconnect()
      await site.stop()
    },
  }
}

async function listen(server: Server): Promise<Site> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

/** An endpoint with one answer to everything; elsewhere, where no token should travel, it would serve. */
async function openAgainst(status: number, body: string): Promise<AsyncDisposable & { redis: Redis }> {
  const site = await listen(
    createServer((request, response) => {
      if (request.url === '/') response.writeHead(status, { location: '/elsewhere' }).end(body)
      else response.end('{"result":"PONG"}')
    }),
  )
  const redis = await openRedis({ url: site.url, token: 'token', clock, deadlineMs: PATIENT_MS })
  return { redis, [Symbol.asyncDispose]: () => site.stop() }
}

for (const [what, status, body, sentence] of [
  ["a proxy's error page", 502, '<h1>Bad gateway</h1>', /HTTP 502/],
  ['an answer that is no result', 200, '[]', /HTTP 200/],
  ['a redirect', 302, '', /redirect/],
  ['a service that is used up', 400, '{"error":"ERR max daily request limit exceeded"}', /limit exceeded/],
] as const) {
  test(`over REST ${what} is an outage`, async () => {
    await using against = await openAgainst(status, body)
    await assert.rejects(against.redis.ping(), { code: 'PACE_REDIS_UNAVAILABLE', message: sentence })
  })
}

test('a service that hides its run_id says unknown', async () => {
  await using against = await openAgainst(200, '{"result":"# Server\\r\\nredis_version:7\\r\\n"}')
  assert.equal(await against.redis.runId(), 'unknown')
})

test('an address of another kind is refused without repeating it', async () => {
  for (const url of ['memcached://user:secret@127.0.0.1', 'secret']) {
    await assert.rejects(
      openRedis({ url, clock }),
      error => error instanceof assert.AssertionError && !error.message.includes('secret'),
    )
  }
})

/** Passes everything on, until it is told to swallow what its connections of that moment say; new ones are served. */
async function lossyPath(port: number): Promise<{ url: string; lose(): void; stop(): Promise<void> }> {
  const pairs = new Set<readonly [Socket, Socket]>()
  const proxy = createProxy(near => {
    const far = connect(port, '127.0.0.1')
    pairs.add([near, far])
    for (const socket of [near, far]) socket.on('error', () => undefined)
    near.pipe(far).pipe(near)
  })
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
  return {
    url: `redis://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    lose: () => {
      for (const [near, far] of pairs) {
        near.unpipe(far).resume()
        far.unpipe(near).resume()
      }
    },
    stop: async () => {
      for (const socket of [...pairs].flat()) socket.destroy()
      await new Promise(resolve => proxy.close(resolve))
    },
  }
}

test('over RESP a connection whose path is silently lost is replaced', async () => {
  const server = await startRedis()
  const path = await lossyPath(server.port)
  const redis = await openRedis({ url: path.url, clock })
  await eventually(() => redis.ping())
  path.lose()
  await assert.rejects(redis.ping(), { code: 'PACE_REDIS_UNAVAILABLE' })
  await eventually(() => redis.ping())
  await redis.close()
  await path.stop()
  await server.stop()
})
