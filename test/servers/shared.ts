// Where the servers are that global-setup.ts started for this run.
import { programs } from './programs.ts'

/** Without them no test of the file can run, so that it ends with one sentence rather than with a failure of each. */
export function sharedUrl(name: 'postgres' | 'redis' | 'nats'): string {
  const { variable } = programs[name]
  const url = process.env[variable]
  if (url) return url
  console.error(`${variable} is not set: run this file with --test-global-setup=test/servers/global-setup.ts, or run npm test.`)
  return process.exit(1)
}
