import type { Arguments, Command } from '../arguments.ts'
import { connectSeen, type Client } from '../client.ts'
import type { CliContext } from '../context.ts'
import { timeOf } from './quota.ts'

const WATCH_MS = 2_000

export const statusCommand: Command = {
  name: 'status',
  summary: 'Shows whether Paceline runs, whether everything it needs answers, and how many streams are fetched.',
  words: '',
  fewestWords: 0,
  mostWords: 0,
  options: { watch: { type: 'boolean', means: 'repeat every two seconds until stopped' } },
  run: async (input, context) => {
    const client = await connectSeen(context, context.loadConfig())
    const look = (): Promise<number> => show(client, input, context)
    try {
      return input.flag('watch') ? await watch(look, context) : await look()
    } finally {
      await client.close()
    }
  },
}

/** Gives the exit code of the last look. */
async function watch(look: () => Promise<number>, { clock, stopAsked }: CliContext): Promise<number> {
  const stop = new AbortController()
  void stopAsked().then(() => {
    stop.abort()
  })
  for (;;) {
    const exitCode = await look()
    const goesOn = await clock.sleep(WATCH_MS, stop.signal).then(
      () => true,
      () => false,
    )
    if (!goesOn) return exitCode
  }
}

interface Health {
  readonly version: string
  readonly demo: boolean
}
interface Readiness {
  readonly parts?: readonly string[]
  readonly details?: readonly string[]
}

async function show(client: Client, { json }: Arguments, { terminal }: CliContext): Promise<number> {
  const { version, demo } = (await client.ask('GET', '/healthz')).body as Health
  const { status, body } = await client.ask('GET', '/readyz')
  const { parts = [], details = [] } = body as Readiness
  const ready = status === 200
  const exitCode = ready ? 0 : 1
  const streams = await streamsOf(client)
  const workers = await workersOf(client)
  const facts = { url: client.url ?? null, version, demo, ready, parts, problems: details, workers, streams }
  if (json) return terminal.line(JSON.stringify(facts), exitCode)
  const state = ready ? `ready (${parts.join(', ')})` : ['not ready', ...details.map(detail => `  ${detail}`)].join('\n')
  const where = client.url === undefined ? ', by its database (no API runs on this data folder)' : ` at ${client.url}`
  const head = `Paceline ${version}${demo ? ' (demo)' : ''}${where}: ${state}`
  const lines = [head, ...(streams ? inWords(streams) : []), ...(workers ? [`Workers: ${workers.length || 'none'}`] : [])]
  return terminal.line(lines.join('\n'), exitCode)
}

/** Null when the server cannot answer now. */
async function workersOf(client: Client): Promise<readonly unknown[] | null> {
  const { status, body } = await client.ask('GET', '/admin/workers')
  return status === 200 ? (body as { items: unknown[] }).items : null
}

interface Streams {
  readonly status: Readonly<Record<string, number>>
  readonly stuck: number
  /** Failed ones by the number of their attempts. */
  readonly retries: Readonly<Record<string, number>>
  readonly rateLimited24h: number
  readonly window: { readonly window: string; readonly allowed: number; readonly used: number; readonly resetAt: string } | null
}

/** Null when the server cannot answer now; the state above says why. */
async function streamsOf(client: Client): Promise<Streams | null> {
  const { status, body } = await client.ask('GET', '/admin/streams')
  if (status !== 200) return null
  const { status: counts, stuck, retries, rateLimited24h, window } = body as Streams
  return { status: counts, stuck, retries, rateLimited24h, window }
}

/** Leaves out states that no activity is in. */
function inWords({ status, stuck, ...work }: Streams): string[] {
  const counts = Object.entries(status).flatMap(([state, count]) => (count === 0 ? [] : [`${count} ${state}`]))
  const rest = stuck === 0 ? '' : `; ${stuck} given up, see \`streams reset --stuck\``
  return [`Streams: ${counts.length === 0 ? 'none yet' : counts.join(', ')}${rest}`, workLine(work)]
}

function workLine({ retries, rateLimited24h, window }: Pick<Streams, 'retries' | 'rateLimited24h' | 'window'>): string {
  const failed = Object.entries(retries).map(([times, count]) => `${count} failed ${times}×`)
  const used = window && `${window.window} window ${window.used}/${window.allowed}, resets ${timeOf(window.resetAt)}`
  return `  ${[failed.join(', ') || 'no retries', `${rateLimited24h} × 429 in 24 h`, used ?? 'no window known'].join('; ')}`
}
