// Runs the real command line as a process of its own, in a folder of its own, as a person would.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { NODE, watchChild } from './child.ts'

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

export type Settings = Readonly<Record<string, string>>

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** The environment of a machine on which nothing of Paceline is set. */
export function environment(settings: Settings): NodeJS.ProcessEnv {
  const clean = Object.entries(process.env).filter(
    ([name]) => !/^(PACELINE|STRAVA|OURA|WHOOP|GARMIN|FOURSQUARE|OTEL)_/.test(name),
  )
  return { ...Object.fromEntries(clean), ...settings }
}

export function launch(folder: string, settings: Settings, words: readonly string[]) {
  return launched(folder, settings, [...NODE, main, ...words])
}

/** On a terminal of its own, which Debian's `script` gives; what the program shows there, control characters included, is `out`. */
export function launchOnTerminal(folder: string, settings: Settings, words: readonly string[]) {
  const quoted = [...NODE, main, ...words].map(word => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ')
  return launched(folder, settings, ['script', '--quiet', '--return', '--command', `stty cols 200; exec ${quoted}`, '/dev/null'])
}

function launched(folder: string, settings: Settings, [program = '', ...words]: readonly string[]) {
  const child = spawn(program, words, {
    cwd: folder,
    env: environment(settings),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  watchChild(child)
  const printed = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed.out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed.err += text))
  const ended = once(child, 'close').then((): Ended => ({ code: child.exitCode, ...printed }))
  return { child, printed, ended }
}

/** Runs one command to its end. */
export async function paceline(folder: string, settings: Settings, ...words: string[]): Promise<Ended> {
  return await launch(folder, settings, words).ended
}

export interface Running {
  readonly pid: number
  output(): string
  stop(signal?: NodeJS.Signals): Promise<Ended>
}

export interface Up extends Running {
  /** Where it listens on this machine. */
  readonly url: string
  /** The first URL that it printed. */
  readonly link: string
}

/** Starts a command that runs until it is stopped, and resolves once it has printed what `seen` looks for. `node`: what runs it. */
export const startedBy =
  (node: readonly string[]) =>
  async (folder: string, settings: Settings, words: readonly string[], seen: RegExp): Promise<Running & { found: string }> => {
    const { child, printed, ended } = launched(folder, settings, [...node, main, ...words])
    const found = await new Promise<string>((resolve, reject) => {
      child.stdout.on('data', () => {
        const [text] = seen.exec(printed.out) ?? []
        if (text !== undefined) resolve(text)
      })
      void ended.then(({ err }) => {
        reject(new Error(`${words.join(' ')} ended too early: ${err}`))
      })
    })
    return {
      found,
      pid: child.pid ?? 0,
      output: () => printed.out,
      stop: async (signal = 'SIGTERM') => {
        child.kill(signal)
        return await ended
      },
    }
  }

export const started = startedBy(NODE)

const onFreePort = (settings: Settings): Settings => ({ PACELINE_PORT: '0', ...settings })

export async function up(folder: string, settings: Settings = {}, ...words: string[]): Promise<Up> {
  const { found: link, ...running } = await started(folder, onFreePort(settings), ['up', ...words], /https?:\/\/\S+(?=\s)/)
  return { ...running, url: new URL(link).origin, link }
}

/** One that does not listen. */
export async function silent(folder: string, settings: Settings, ...words: string[]): Promise<Running> {
  return await started(folder, onFreePort(settings), ['up', ...words], /does not listen/)
}
