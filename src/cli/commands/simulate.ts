import { ScaledClock, type Clock } from '../../kernel/clock.ts'
import type { SimulatorOptions } from '../../simulator/simulator.ts'
import { usage, type Arguments, type Command } from '../arguments.ts'
import type { CliContext } from '../context.ts'

const HOST = '127.0.0.1'

export const simulateCommand: Command = {
  name: 'simulate',
  summary: 'Runs simulated vendors on this machine until it is stopped.',
  words: '[overall=200,2000]',
  fewestWords: 0,
  mostWords: 1,
  options: {
    port: { type: 'string', value: 'P', means: 'the port to listen on (0: any free one)' },
    speed: { type: 'string', value: 'N', means: 'run time N times as fast (set PACELINE_CLOCK_ANCHOR to agree with a server)' },
    seed: { type: 'string', value: 'S', means: 'other athletes and activities for another seed (default: 1)' },
    activities: { type: 'string', value: 'A', means: 'activities of the first athlete (default: 700)' },
    broken: { type: 'string', value: 'N', means: 'how many of these activities are broken (default: none)' },
    living: { type: 'boolean', means: 'add new activities and nights as time passes' },
    limits: {
      type: 'string',
      value: 'read=100,1000',
      means: "Strava's limits per 15 minutes and per day; overall=200,2000 may follow",
    },
    webhooks: { type: 'string', value: 'URL', means: 'where to send webhooks' },
  },
  run: async (input, context) => {
    const port = numberOf(input, 'port', 0, 65_535)
    if (port === undefined) throw usage(simulateCommand, 'simulate needs --port.')
    const options = optionsOf(input, clockOf(input, context))
    const { openSimulator } = await import('../../simulator/simulator.ts')
    const simulator = openSimulator(options)
    const stop = context.stopAsked()
    const { url } = await simulator.listen({ host: HOST, port })
    context.terminal.line(
      input.json ? JSON.stringify({ url }) : `Simulated vendors at ${url}; set e.g. STRAVA_BASE_URL=${url}/strava`,
    )
    await stop
    await simulator.close()
    return 0
  },
}

function clockOf(input: Arguments, { clock, loadConfig }: CliContext): Clock {
  const speed = numberOf(input, 'speed', 1, 100_000) ?? 1
  return speed === 1 ? clock : new ScaledClock(clock, speed, loadConfig().clockAnchor ?? clock.now())
}

function optionsOf(input: Arguments, clock: Clock): SimulatorOptions {
  const [seed, activities, broken] = [numberOf(input, 'seed'), numberOf(input, 'activities'), numberOf(input, 'broken')]
  const webhooksUrl = input.text('webhooks')
  if (webhooksUrl !== undefined && !URL.canParse(webhooksUrl)) throw usage(simulateCommand, '--webhooks is not a URL.')
  return {
    clock,
    living: input.flag('living'),
    limits: limitsOf([input.text('limits') ?? [], ...input.words].flat()),
    ...(seed !== undefined && { seed }),
    ...(activities !== undefined && { activities }),
    ...(broken !== undefined && { broken }),
    ...(webhooksUrl !== undefined && { webhooksUrl }),
  }
}

function limitsOf(words: readonly string[]): { read?: [number, number]; overall?: [number, number] } {
  const limits = words.map(word => {
    const [, pool, quarter, day] = /^(read|overall)=(\d+),(\d+)$/.exec(word) ?? []
    if (pool === undefined) throw usage(simulateCommand, `--limits takes read=100,1000 and overall=200,2000, not ${word}.`)
    return [pool, [Number(quarter), Number(day)]] as const
  })
  return Object.fromEntries(limits)
}

function numberOf(input: Arguments, option: string, least = 0, most = Number.MAX_SAFE_INTEGER): number | undefined {
  const word = input.text(option)
  if (word === undefined) return undefined
  const number = Number(word)
  if (Number.isInteger(number) && number >= least && number <= most) return number
  throw usage(simulateCommand, `--${option} is a whole number from ${least} on, not ${word}.`)
}
