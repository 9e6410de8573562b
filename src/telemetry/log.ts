// The log: JSON lines, or readable ones on a terminal. Every line passes the redaction as its last step before it is
// written, whatever it was made of (fields, bindings of a child, messages, errors and their causes), and is written at
// once, so that nothing is lost when the process ends. Its time is the machine's, so that it can be laid beside the logs
// of other programs, also when Paceline runs on scaled time.
import { destination, pino, stdTimeFunctions } from 'pino'
import type { DestinationStream, Level, Logger } from 'pino'
import { prettyFactory } from 'pino-pretty'
import { redactLine } from './redaction.ts'

export type Log = Logger

interface LogOptions {
  readonly level: Level | 'silent'
  /** Readable lines instead of JSON; the caller knows whether a person is looking. */
  readonly pretty: boolean
  readonly destination?: DestinationStream
}

export function openLog({ level, pretty, destination: given }: LogOptions): Log {
  const lines = given ?? standardOutput()
  return pino(
    {
      level,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: label => ({ level: label }) },
      hooks: { streamWrite: redactLine },
    },
    pretty ? readable(lines) : lines,
  )
}

/** How much is kept in memory while stdout takes nothing. */
const BACKLOG_BYTES = 4 * 1024 * 1024

function standardOutput(): DestinationStream {
  const stdout = destination({ fd: 1, sync: true, maxLength: BACKLOG_BYTES })
  // When the disk under stdout is full there is nowhere to tell it, and the work goes on.
  stdout.on('error', () => undefined)
  return stdout
}

// Not pino-pretty's own stream: that one writes a turn of the event loop later, and loses the last lines of a process.
function readable(lines: DestinationStream): DestinationStream {
  const prettify = prettyFactory({ colorize: true, translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname', singleLine: true })
  return {
    write: line => {
      lines.write(prettify(line))
    },
  }
}
