// A real PostgreSQL for the tests, and a fresh database in one. The superuser is `paceline`, without a password, on 127.0.0.1
// only. PostgreSQL refuses to run as root: then it runs as `postgres` or, where there is no such user, as `nobody`.
import { spawnSync } from 'node:child_process'
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
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
  /** A server that is halted just now: this one begins with its data, as its standby, and follows it when it runs again. */
  readonly standbyOf?: TestServer
}

export async function startPostgres(options: PostgresOptions = {}): Promise<TestServer> {
  // The copy takes the mark with it; the server itself starts without.
  if (options.standbyOf) makeStandby(options.standbyOf)
  try {
    return await startAny(options)
  } finally {
    if (options.standbyOf) rmSync(standbyMark(options.standbyOf))
  }
}

async function startAny(options: PostgresOptions): Promise<TestServer> {
  const programs = folderOf('postgres')
  const user = process.getuid?.() === 0 ? unprivilegedUser() : undefined
  return startServer({
    name: 'postgres',
    command: join(programs, 'postgres'),
    user,
    // "Fast" shutdown: SIGTERM would wait for every client to leave.
    haltSignal: 'SIGINT',
    url: port => `postgres://paceline@127.0.0.1:${port}/postgres`,
    prepare: folder =>
      options.standbyOf === undefined
        ? { command: join(programs, 'initdb'), args: initdbArgs(folder) }
        : { command: 'cp', args: ['-R', dataOf(options.standbyOf), dataOf({ folder })] },
    args: place => postgresArgs(place, options),
    answers: hasFolder,
  })
}

const dataOf = ({ folder }: Pick<TestServer, 'folder'>): string => join(folder, 'data')

const standbyMark = (server: TestServer): string => join(dataOf(server), 'standby.signal')

/** Its next start is that of a standby, which only reads, until it is promoted. */
export function makeStandby(server: TestServer): void {
  const file = standbyMark(server)
  writeFileSync(file, '')
  // The server runs as another user and opens it to write.
  chmodSync(file, 0o666)
}

/** Resolves when it takes writes. */
export async function promote(server: TestServer): Promise<void> {
  await ask(server.url, 'select pg_promote()')
}

const initdbArgs = (folder: string): readonly string[] => {
  const access = ['--username=paceline', '--auth=trust']
  return [`--pgdata=${dataOf({ folder })}`, ...access, '--encoding=UTF8', `--locale=${LOCALE}`, '--no-sync']
}

function postgresArgs({ folder, port }: Place, { fsync = false, settings = {}, standbyOf }: PostgresOptions): readonly string[] {
  const all = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    // In the folder, not in /dev/shm, where a killed server would leave it.
    dynamic_shared_memory_type: 'mmap',
    fsync: fsync ? 'on' : 'off',
    ...(standbyOf && { primary_conninfo: `host=127.0.0.1 port=${standbyOf.port} user=paceline` }),
    ...settings,
  }
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return ['-D', dataOf({ folder }), '-p', String(port), ...flags]
}

async function hasFolder({ folder, port }: Place): Promise<boolean> {
  const rows = await ask(`postgres://paceline@127.0.0.1:${port}/postgres`, 'show data_directory')
  return rows[0]?.data_directory === dataOf({ folder })
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
