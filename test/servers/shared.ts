// Where the servers are that global-setup.ts started for this run.
import { programs } from './programs.ts'

export function sharedUrl(name: 'postgres' | 'redis' | 'nats'): string {
  const { variable } = programs[name]
  const url = process.env[variable]
  if (url) return url
  throw new Error(`${variable} is not set: run this file with --test-global-setup=test/servers/global-setup.ts, or run npm test.`)
}
