// The servers that a test run shares: started once before its files, stopped after them, named to them by environment variables.
// A variable that is already set names a running server, and none is started. Tests that kill a server start their own.
import { provideServers } from '../../scripts/servers.ts'
import { chromiumPath } from './chromium.ts'
import { startNats } from './nats.ts'
import { startPostgres } from './postgres.ts'
import { programs, type ProgramName } from './programs.ts'
import { startRedis } from './redis.ts'
import type { TestServer } from './server.ts'
import './watchdog.ts'

const started: TestServer[] = []

async function share(name: ProgramName, start: () => Promise<TestServer>): Promise<void> {
  const { variable } = programs[name]
  if (process.env[variable]) return
  const server = await start()
  started.push(server)
  process.env[variable] = server.url
}

export async function globalSetup(): Promise<void> {
  await provide()
  process.env[programs.chromium.variable] = chromiumPath()
  await Promise.all([share('postgres', startPostgres), share('redis', startRedis), share('nats', startNats)])
}

/** Where one file is run by hand nobody has looked yet. The end is a sentence, where an error would be a stack. */
async function provide(): Promise<void> {
  const provision = await provideServers()
  if (provision.outcome === 'ready') return
  for (const sentence of provision.sentences) console.error(sentence)
  process.exit(1)
}

export async function globalTeardown(): Promise<void> {
  await Promise.all(started.map(server => server.stop()))
}
