import type { Arguments, Command } from '../arguments.ts'
import { connectRunning, type Client } from '../client.ts'
import type { House } from '../house.ts'

const WATCH_MS = 2_000

export const statusCommand: Command = {
  name: 'status',
  summary: 'Says whether Paceline runs and whether everything it needs is there.',
  words: '',
  fewestWords: 0,
  mostWords: 0,
  options: { watch: { type: 'boolean', means: 'again every two seconds, until it is stopped' } },
  run: async (input, house) => {
    const client = await connectRunning(house, house.loadConfig())
    let stopped = false
    if (input.flag('watch')) {
      void house.stopAsked().then(() => {
        stopped = true
      })
    }
    for (;;) {
      const exitCode = await show(client, input, house)
      if (!input.flag('watch') || stopped) return exitCode
      await house.clock.sleep(WATCH_MS)
    }
  },
}

interface Health {
  readonly version: string
  readonly demo: boolean
}
interface Readiness {
  readonly parts?: readonly string[]
  readonly details?: readonly string[]
}

async function show(client: Client, { json }: Arguments, { terminal }: House): Promise<number> {
  const { version, demo } = (await client.ask('GET', '/healthz')).body as Health
  const { status, body } = await client.ask('GET', '/readyz')
  const { parts = [], details = [] } = body as Readiness
  const ready = status === 200
  const exitCode = ready ? 0 : 1
  if (json) return terminal.line(JSON.stringify({ url: client.url, version, demo, ready, parts, problems: details }), exitCode)
  const state = ready ? `ready (${parts.join(', ')})` : ['not ready', ...details.map(detail => `  ${detail}`)].join('\n')
  return terminal.line(`Paceline ${version}${demo ? ' (demo)' : ''} at ${client.url}: ${state}`, exitCode)
}
