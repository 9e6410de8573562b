// The door. Finds the command, runs it, and turns every failure into one sentence and an exit code (0 done, 1 failed, 2 wrong usage). It
// decides nothing: a command asks a running server, or the engine in this process.
import { PacelineError, reasonOf } from '../kernel/errors.ts'
import { parseArguments, usageOf, type Command } from './arguments.ts'
import { athleteCommand } from './commands/athlete.ts'
import { connectCommand } from './commands/connect.ts'
import { dlqCommand } from './commands/dlq.ts'
import { doctorCommand } from './commands/doctor.ts'
import { importCommand } from './commands/import.ts'
import { migrateCommand } from './commands/migrate.ts'
import { quotaCommand } from './commands/quota.ts'
import { signInCommand } from './commands/sign-in.ts'
import { simulateCommand } from './commands/simulate.ts'
import { statusCommand } from './commands/status.ts'
import { backfillCommand, streamsCommand } from './commands/streams.ts'
import { tokenCommand } from './commands/token.ts'
import { upCommand } from './commands/up.ts'
import type { CliContext } from './context.ts'

export type { CliContext, OpenOptions } from './context.ts'

const COMMANDS: readonly Command[] = [
  upCommand,
  migrateCommand,
  statusCommand,
  signInCommand,
  athleteCommand,
  tokenCommand,
  connectCommand,
  importCommand,
  backfillCommand,
  streamsCommand,
  quotaCommand,
  dlqCommand,
  doctorCommand,
  simulateCommand,
]

export async function runCli(words: readonly string[], context: CliContext): Promise<number> {
  const { terminal } = context
  const [name, ...rest] = words
  if (name === '--version') return terminal.line(context.version, 0)
  if (name === undefined || ['--help', '-h', 'help'].includes(name)) return terminal.line(overview(), name === undefined ? 2 : 0)
  try {
    const command = COMMANDS.find(each => each.name === name)
    if (command === undefined) throw new PacelineError('PACE_USAGE', `There is no command "${name}".`, { details: [overview()] })
    if (rest.includes('--help')) return terminal.line(usageOf(command), 0)
    return await command.run(parseArguments(command, rest), context)
  } catch (error) {
    return failed(error, words.includes('--json'), terminal)
  }
}

function failed(error: unknown, json: boolean, terminal: CliContext['terminal']): number {
  // An error outside the catalogue is a fault of Paceline; the stack helps in a report.
  if (!(error instanceof PacelineError)) {
    const stack = error instanceof Error ? error.stack : undefined
    terminal.error(json ? JSON.stringify({ error: reasonOf(error), code: 'PACE_INTERNAL' }) : (stack ?? reasonOf(error)))
    return 1
  }
  const { message, code, details } = error
  terminal.error(
    json
      ? JSON.stringify({ error: message, code, ...(details && { details }) })
      : [message, ...(code === 'PACE_USAGE' ? (details ?? []) : [])].join('\n'),
  )
  return code === 'PACE_USAGE' ? 2 : 1
}

function overview(): string {
  const width = Math.max(...COMMANDS.map(command => command.name.length))
  const lines = COMMANDS.map(command => `  ${command.name.padEnd(width)}  ${command.summary}`)
  return [
    'Usage: paceline <command> [options]',
    '',
    ...lines,
    '',
    'paceline <command> --help explains a command. Every command takes --json.',
  ].join('\n')
}
