// A real PostgreSQL for the tests, and a fresh database in one. The superuser is `paceline`, without a password, on 127.0.0.1
// only. PostgreSQL refuses to run as root: then it runs as `postgres` or, where there is no such user, as `nobody`.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { Client } from 'pg'
import { folderOf } from './programs.ts'
import { startServer, type Place, type TestServer } from './server.ts'

// The only one with upper and lower case beyond ASCII that every Linux has.
const LOCALE = process.platform === 'linux' ? 'C.UTF-8' : 'C'

export interface PostgresOptions {
  /** True to survive a power cut too; without it a `kill -9` still loses no committed row, and everything is faster. */
  readonly fsync?: boolean
  /** Any other setting, as in postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>
}

export async function startPostgres(options: PostgresOptions = {}): Promise<TestServer> {
  const programs = folderOf('postgres')
  const user = process.getuid?.() === 0 ? unprivilegedUser() : undefined
  return startServer({
    name: 'postgres',
    command: join(programs, 'postgres'),
    user,
    // "Fast" shutdown: SIGTERM would wait for every client to leave.
    haltSignal: 'SIGINT',
    url: port => `postgres://paceline@127.0.0.1:${port}/postgres`,
    prepare: folder => ({ command: join(programs, 'initdb'), args: initdbArgs(folder) }),
    args: place => postgresArgs(place, options),
    answers: hasFolder,
  })
}

const initdbArgs = (folder: string): readonly string[] => {
  const access = ['--username=paceline', '--auth=trust']
  return [`--pgdata=${join(folder, 'data')}`, ...access, '--encoding=UTF8', `--locale=${LOCALE}`, '--no-sync']
}

function postgresArgs({ folder, port }: Place, { fsync = false, settings = {} }: PostgresOptions): readonly string[] {
  const all = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    // In the folder, not in /dev/shm, where a killed server would leave it.
    dynamic_shared_memory_type: 'mmap',
    fsync: fsync ? 'on' : 'off',
    ...settings,
  }
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return ['-D', join(folder, 'data'), '-p', String(port), ...flags]
}

async function hasFolder({ folder, port }: Place): Promise<boolean> {
  const rows = await ask(`postgres://paceline@127.0.0.1:${port}/postgres`, 'show data_directory')
  return rows[0]?.data_directory === join(folder, 'data')
}

async function ask(url: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 60_000 })
  // The server may end the connection while it is being closed.
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end()
  }
}

function unprivilegedUser(): { uid: number; gid: number } {
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map(flag => spawnSync('id', [flag, name], { encoding: 'utf8' }))
    if (uid?.status === 0 && gid?.status === 0) return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
  }
  throw new Error('PostgreSQL does not run as root, and there is neither a user postgres nor nobody.')
}

let created = 0

/** An empty database of its own for a test file; `drop` also ends the connections to it. */
export async function createDatabase(adminUrl: string): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `test_${process.pid}_${++created}`
  // template0, because another session in template1 would refuse the copy.
  await ask(adminUrl, `create database ${name} template template0`)
  const url = new URL(adminUrl)
  url.pathname = `/${name}`
  return {
    url: url.href,
    drop: async () => {
      await ask(adminUrl, `drop database if exists ${name} with (force)`)
    },
  }
}
