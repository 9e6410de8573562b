import { once } from 'node:events'
import { PacelineError } from '../../kernel/errors.ts'
import { connectSample, sampleAthlete, tellImport, type SampleAthlete } from '../../demo.ts'
import type { Engine } from '../../engine.ts'
import { ROLES, type Role } from '../../roles.ts'
import { usage, type Arguments, type Command } from '../arguments.ts'
import { announce } from '../announcement.ts'
import { homeOf } from '../home.ts'
import type { CliContext, OpenOptions } from '../context.ts'
import type { Config } from '../../config.ts'

export const upCommand: Command = {
  name: 'up',
  summary: 'Runs Paceline until it is stopped, and prints a sign-in link.',
  words: '',
  fewestWords: 0,
  mostWords: 0,
  options: {
    roles: { type: 'string', value: 'a,b', means: `what this process does: ${ROLES.join(', ')} (default: all)` },
    demo: {
      type: 'string',
      value: 'on|off',
      means: 'run the demo, in its own folder (default: on without credentials and PostgreSQL)',
    },
    speed: { type: 'string', value: 'N', means: 'run time N times as fast (default: 1, the demo 60)' },
  },
  run: async (input, context) => {
    const config = context.loadConfig()
    const options = optionsOf(input, config)
    // From here on, because opening a store for the first time may take long enough to change one's mind.
    const stop = new AbortController()
    void context.stopAsked().then(() => {
      stop.abort()
    })
    const engine = await context.openEngine(config, { ...options, progress: sentence => context.terminal.error(sentence) })
    try {
      if (stop.signal.aborted) return 0
      return await serve(engine, { ...options, json: input.json, stop: stop.signal }, context)
    } finally {
      await engine.close()
    }
  },
}

type Serving = OpenOptions & { readonly json: boolean; readonly stop: AbortSignal }

async function serve(engine: Engine, options: Serving, context: CliContext): Promise<number> {
  await engine.service.start()
  const sample = options.demo ? await sampleAthlete(engine) : undefined
  const listens = options.roles.includes('api')
  // Before anything is printed, because whoever waits for the link may run a command at once.
  const withdraw = listens ? announce(options.folder, engine.localUrl()) : () => undefined
  try {
    if (listens) await printLink(engine, context)
    context.terminal.line(options.json ? factsOf(engine, options, context) : sentenceOf(engine, options, context))
    await Promise.all([aborted(options.stop), sample && showDemo(engine, sample, options, context)])
  } finally {
    withdraw()
  }
  return 0
}

const aborted = async (signal: AbortSignal): Promise<void> => {
  if (!signal.aborted) await once(signal, 'abort')
}

/** Runs after the link is printed, because the link must come before any log line of the demo. */
async function showDemo(
  engine: Engine,
  sample: SampleAthlete,
  { json, stop }: Serving,
  { clock, terminal }: CliContext,
): Promise<void> {
  await connectSample(engine, sample)
  const telling = { clock, signal: stop, say: speakerOn(terminal) }
  if (!json) await tellImport(engine, sample.athleteId, telling)
}

/** On a terminal a passing line is replaced by the next one; any other line stays. */
function speakerOn(terminal: CliContext['terminal']): (line: string, isPassing: boolean) => void {
  const { rewrite } = terminal
  if (rewrite === undefined) return line => terminal.line(line)
  return (line, isPassing) => {
    rewrite(line)
    if (!isPassing) terminal.line('')
  }
}

/** The first URL on standard output, on a line of its own even with --json: programs look for it. */
async function printLink(engine: Engine, { terminal }: CliContext): Promise<void> {
  terminal.line(`${engine.publicUrl()}/sign-in?token=${await engine.accounts.createSignInLink(null)}`)
}

const factsOf = (engine: Engine, { demo, roles }: Serving, { version }: CliContext): string =>
  JSON.stringify({ url: roles.includes('api') ? engine.localUrl() : null, health: engine.healthUrl(), version, demo })

function sentenceOf(engine: Engine, { demo, folder, roles, speed }: Serving, { version }: CliContext): string {
  const health = engine.healthUrl()
  const listens = health === undefined ? 'it does not listen' : `it answers for health and metrics only, at ${health}`
  if (!roles.includes('api')) return `Paceline ${version} is up with the roles ${roles.join(', ')}; ${listens}.`
  const label = demo ? ` This is the demo: a sample athlete, time × ${speed}, data in ${folder}.` : ''
  return `Paceline ${version} is up.${label} The link above signs you in once, within 24 hours.`
}

function optionsOf(input: Arguments, config: Config): OpenOptions {
  const home = homeOf(config, demoAsked(input))
  if (home.demo && config.postgresUrl !== undefined) {
    throw new PacelineError(
      'PACE_CONFIG',
      'The demo runs only on its own embedded store: unset PACELINE_POSTGRES_URL, or leave out --demo on.',
    )
  }
  const roles = rolesAsked(input)
  if (config.postgresUrl === undefined && roles.length < ROLES.length) {
    throw new PacelineError(
      'PACE_CONFIG',
      'The embedded store allows one process, which needs all roles: leave out --roles, or set PACELINE_POSTGRES_URL.',
    )
  }
  if (roles.includes('api') && config.port !== 0 && config.port === config.healthPort) {
    throw new PacelineError('PACE_CONFIG', 'PACELINE_HEALTH_PORT and PACELINE_PORT must differ where the API listens.')
  }
  return { folder: home.folder, demo: home.demo, speed: speedAsked(input) ?? home.speed, roles }
}

function demoAsked(input: Arguments): boolean | undefined {
  const word = input.text('demo')
  if (word !== undefined && !['on', 'off'].includes(word)) throw usage(upCommand, `--demo is on or off, not ${word}.`)
  return word === undefined ? undefined : word === 'on'
}

function speedAsked(input: Arguments): number | undefined {
  const word = input.text('speed')
  const speed = Number(word)
  if (word !== undefined && !(speed >= 1 && speed <= 100_000))
    throw usage(upCommand, `--speed is a number from 1 to 100000, not ${word}.`)
  return word === undefined ? undefined : speed
}

function rolesAsked(input: Arguments): Role[] {
  const words = input.text('roles')?.split(',') ?? ROLES
  const unknown = words.find(word => !ROLES.includes(word as Role))
  if (unknown !== undefined) throw usage(upCommand, `There is no role "${unknown}"; there are ${ROLES.join(', ')}.`)
  return [...new Set(words as Role[])]
}
