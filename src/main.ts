// Where the process begins: the terminal, the configuration and the engine meet the command line.
import manifest from '../package.json' with { type: 'json' }
import { runCli, type House, type OpenOptions } from './cli/cli.ts'
import { loadConfig, type Config } from './config.ts'
import { examine, openEngine } from './engine.ts'
import { SystemClock } from './kernel/clock.ts'
import { openLog } from './telemetry/telemetry.ts'

const interactive = process.stdout.isTTY

const house: House = {
  version: manifest.version,
  clock: new SystemClock(),
  terminal: {
    interactive,
    line: (text, exitCode = 0) => {
      process.stdout.write(`${text}\n`)
      return exitCode
    },
    error: text => {
      process.stderr.write(`${text}\n`)
    },
  },
  loadConfig: () => loadConfig(),
  openEngine: async (config: Config, { quiet = false, ...options }: OpenOptions) => {
    const log = openLog({ level: quiet ? 'silent' : config.logLevel, pretty: interactive })
    return await openEngine({ config, version: manifest.version, log, ...options })
  },
  examine,
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

process.exitCode = await runCli(process.argv.slice(2), house)
