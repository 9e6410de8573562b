// The start of the process: gives the command line its terminal, configuration and engine.
import manifest from '../package.json' with { type: 'json' }
import { runCli, type CliContext, type OpenOptions } from './cli/cli.ts'
import { stopAsked } from './cli/stop-asked.ts'
import { loadConfig, type Config } from './config.ts'
import { SystemClock } from './kernel/clock.ts'

function endAtOnce(): never {
  process.stderr.write('Asked to stop a second time: ended at once, before everything was closed.\n')
  process.exit(1)
}

// The engine is loaded only when needed: without it a command that asks a running server takes a third of the time.
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
    // A line wider than the terminal would wrap, and its first part would stay on the screen. Some terminals do not report their width.
    rewrite: process.stdout.isTTY
      ? text => process.stdout.write(`\r\x1b[K${text.slice(0, (process.stdout.columns || 80) - 1)}`)
      : undefined,
  },
  loadConfig: () => loadConfig(),
  openEngine: async (config: Config, { quiet = false, ...options }: OpenOptions) => {
    const [{ openEngine }, { openLog }] = await Promise.all([import('./engine.ts'), import('./telemetry/telemetry.ts')])
    // In a terminal the demo shows the progress of its import; log lines of requests and streams would bury it.
    const isWatched = options.demo && process.stdout.isTTY && !config.given.includes('PACELINE_LOG_LEVEL')
    const level = quiet ? 'silent' : isWatched ? 'warn' : config.logLevel
    const log = openLog({ level, pretty: process.stdout.isTTY })
    return await openEngine({ config, version: manifest.version, log, ...options })
  },
  examine: async (config, folder) => await (await import('./servers.ts')).examine(config, folder),
  stopAsked: () => stopAsked(process, context.clock, endAtOnce),
}

process.exitCode = await runCli(process.argv.slice(2), context)

// Everything is closed now, but a connection to a server that hangs would keep the process alive. So it exits this long after all output is
// written, which lets a slow reader get all of it. When nothing is left open, the process ends by itself before.
const LEFT_OPEN_MS = 2_000
process.stdout.write('', () => {
  context.clock.deadline(LEFT_OPEN_MS).addEventListener('abort', () => process.exit())
})
