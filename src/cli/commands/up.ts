import { PacelineError } from '../../kernel/errors.ts'
import type { Engine } from '../../engine.ts'
import { ROLES, type Role } from '../../roles.ts'
import { usage, type Arguments, type Command } from '../arguments.ts'
import { announce } from '../client.ts'
import { homeOf } from '../home.ts'
import type { House, OpenOptions } from '../house.ts'
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
      means: 'the demo, in its own folder (default: on without credentials and PostgreSQL)',
    },
    speed: { type: 'string', value: 'N', means: 'run time N times as fast (default: 1, the demo 60)' },
  },
  run: async (input, house) => {
    const config = house.loadConfig()
    const options = optionsOf(input, config)
    const engine = await house.openEngine(config, options)
    try {
      return await serve(engine, options, house)
    } finally {
      await engine.close()
    }
  },
}

async function serve(engine: Engine, options: OpenOptions, house: House): Promise<number> {
  const stop = house.stopAsked()
  await engine.service.start()
  if (options.demo) await sampleAthlete(engine)
  if (options.roles.includes('api')) await greet(engine, options, house)
  else house.terminal.line(`Paceline ${house.version} is up as ${options.roles.join(', ')}; it does not listen.`)
  const withdraw = options.roles.includes('api') ? announce(options.folder, engine.localUrl()) : () => undefined
  try {
    await stop
  } finally {
    withdraw()
  }
  return 0
}

async function greet(engine: Engine, { demo, folder, speed }: OpenOptions, { terminal, version }: House): Promise<void> {
  // The first URL on standard output, on a line of its own: programs look for it.
  terminal.line(`${engine.publicUrl()}/sign-in?token=${await engine.accounts.createSignInLink(null)}`)
  const label = demo ? ` This is the demo: a sample athlete, time × ${speed}, data in ${folder}.` : ''
  terminal.line(`Paceline ${version} is up.${label} The link above signs you in once, within 24 hours.`)
}

function optionsOf(input: Arguments, config: Config): OpenOptions {
  const home = homeOf(config, demoAsked(input))
  if (home.demo && config.postgresUrl !== undefined) {
    throw new PacelineError(
      'PACE_CONFIG',
      'The demo runs on its own embedded store only: unset PACELINE_POSTGRES_URL, or leave out --demo on.',
    )
  }
  const roles = rolesAsked(input)
  if (config.postgresUrl === undefined && roles.length < ROLES.length) {
    throw new PacelineError(
      'PACE_CONFIG',
      'The embedded store has room for one process, which needs all roles; --roles is for PACELINE_POSTGRES_URL.',
    )
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

async function sampleAthlete({ accounts }: Engine): Promise<void> {
  if ((await accounts.athletes({ limit: 1 })).length === 0)
    await accounts.createAthlete({ name: 'Sample Athlete', timezone: 'Europe/Berlin' })
}
