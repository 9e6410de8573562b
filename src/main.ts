// Where the process begins: the terminal, the configuration and the engine meet the command line.
import manifest from '../package.json' with { type: 'json' }
import { runCli, type CliContext, type OpenOptions } from './cli/cli.ts'
import { loadConfig, type Config } from './config.ts'
import { SystemClock } from './kernel/clock.ts'

// The engine is loaded when it is needed: a command that only asks a running server answers in a third of the time.
const context: CliContext = {
  version: manifest.version,
  clock: new SystemClock(),
  terminal: {
    line: (text, exitCode = 0) => {
      process.stdout.write(`${text}\n`)
      return exitCode
    },
    error: text => {
      process.stderr.write(`${text}\n`)
    },
    // A line that is wider than the terminal would leave its first part behind. Some terminals do not know how wide they are.
    rewrite: process.stdout.isTTY
      ? text => process.stdout.write(`\r\x1b[K${text.slice(0, (process.stdout.columns || 80) - 1)}`)
      : undefined,
  },
  loadConfig: () => loadConfig(),
  openEngine: async (config: Config, { quiet = false, ...options }: OpenOptions) => {
    const [{ openEngine }, { openLog }] = await Promise.all([import('./engine.ts'), import('./telemetry/telemetry.ts')])
    // Who looks at the demo in a terminal follows the import; every request and every stream would drown it.
    const isWatched = options.demo && process.stdout.isTTY && !config.given.includes('PACELINE_LOG_LEVEL')
    const level = quiet ? 'silent' : isWatched ? 'warn' : config.logLevel
    const log = openLog({ level, pretty: process.stdout.isTTY })
    return await openEngine({ config, version: manifest.version, log, ...options })
  },
  examine: async (config, folder) => await (await import('./servers.ts')).examine(config, folder),
  stopAsked: () =>
    new Promise(resolve => {
      const stop = (): void => {
        resolve()
        // Asked twice: whoever waits has waited long enough.
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
      }
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
    }),
}

process.exitCode = await runCli(process.argv.slice(2), context)

// Everything was closed, but a server that hangs never closes its end of a connection, and an open one keeps the process. The
// time runs from when all output is out, so that a slow reader gets it whole; it holds nothing up when nothing is left.
const LEFT_OPEN_MS = 2_000
process.stdout.write('', () => {
  context.clock.deadline(LEFT_OPEN_MS).addEventListener('abort', () => process.exit())
})
