// A real Redis for the tests. It forgets everything when it ends unless it is asked to persist.
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { folderOf } from './programs.ts'
import { startServer, type TestServer } from './server.ts'

export interface RedisOptions {
  /** Every write is on disk before it is answered. */
  readonly persist?: boolean
}

export async function startRedis({ persist = false }: RedisOptions = {}): Promise<TestServer> {
  const persistence = persist ? ['--appendonly', 'yes', '--appendfsync', 'always'] : ['--appendonly', 'no']
  return startServer({
    name: 'redis',
    command: join(folderOf('redis'), 'redis-server'),
    haltSignal: 'SIGTERM',
    url: port => `redis://127.0.0.1:${port}`,
    args: ({ folder, port }) => ['--bind', '127.0.0.1', '--port', `${port}`, '--dir', folder, '--save', '', ...persistence],
    answers: async ({ port }, pid) => (await serverInfo(port)).includes(`process_id:${pid}\r\n`),
  })
}

async function serverInfo(port: number): Promise<string> {
  const client = new Redis({
    port,
    host: '127.0.0.1',
    lazyConnect: true,
    retryStrategy: () => null,
    connectTimeout: 60_000,
    commandTimeout: 60_000,
  })
  // A refused connection is also the rejection of connect(), below.
  client.on('error', () => undefined)
  try {
    await client.connect()
    return await client.info('server')
  } finally {
    client.disconnect()
  }
}
