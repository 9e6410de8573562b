// A command's words and options as data, and the strict parsing of a command line by them: an unknown or missing word is PACE_USAGE with
// the command's usage.
import { parseArgs } from 'node:util'
import { PacelineError, reasonOf } from '../kernel/errors.ts'
import type { CliContext } from './context.ts'

interface OptionSpec {
  readonly type: 'string' | 'boolean'
  /** The name of its value in the usage. */
  readonly value?: string
  readonly means: string
}

export interface Command {
  readonly name: string
  readonly summary: string
  /** The words after the command, in the usage's notation. */
  readonly words: string
  readonly fewestWords: number
  readonly mostWords: number
  readonly options: Readonly<Record<string, OptionSpec>>
  run(input: Arguments, context: CliContext): Promise<number>
}

export interface Arguments {
  readonly words: readonly string[]
  readonly json: boolean
  text(option: string): string | undefined
  flag(option: string): boolean
}

const COMMON: Readonly<Record<string, OptionSpec>> = { json: { type: 'boolean', means: 'print JSON' } }

export function parseArguments(command: Command, rest: readonly string[]): Arguments {
  const options = { ...command.options, ...COMMON }
  const { values, positionals } = strictly(command, () =>
    parseArgs({
      args: [...rest],
      options: Object.fromEntries(Object.entries(options).map(([name, { type }]) => [name, { type }])),
      allowPositionals: true,
    }),
  )
  if (positionals.length < command.fewestWords || positionals.length > command.mostWords)
    throw usage(command, `${command.name} got too ${positionals.length < command.fewestWords ? 'few' : 'many'} words.`)
  const text = (option: string): string | undefined => {
    const value = values[option]
    return typeof value === 'string' ? value : undefined
  }
  return { words: positionals, json: values['json'] === true, text, flag: option => values[option] === true }
}

export const usage = (command: Command, sentence: string): PacelineError =>
  new PacelineError('PACE_USAGE', sentence, { details: [usageOf(command)] })

export function usageOf({ name, words, summary, options }: Command): string {
  const all = Object.entries({ ...options, ...COMMON }).map(
    ([option, { value, means }]) => `  ${`--${option}${value ? ` ${value}` : ''}`.padEnd(24)}  ${means}`,
  )
  return [`Usage: paceline ${name}${words ? ` ${words}` : ''} [options]`, '', summary, '', ...all].join('\n')
}

function strictly<T>(command: Command, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw usage(command, reasonOf(error).split('. ', 1)[0] ?? reasonOf(error))
  }
}
