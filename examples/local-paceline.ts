// What the examples stand on: the simulated vendors and Paceline, started by the command line as in two terminals, in a folder that goes
// away with them. With a server of your own you need neither: its address and a token are enough.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('../bin/paceline.mjs', import.meta.url))
const ADMIN_TOKEN = 'an-admin-token-that-only-this-example-uses'
/** Both programs live sixty times as fast and agree on when that began. */
const FAST = ['--speed', '60']

export interface LocalPaceline extends AsyncDisposable {
  readonly url: string
  readonly adminToken: string
}

/** `activities`: how many the athlete has on the simulated Strava. */
export async function startPaceline({ activities }: { readonly activities: number }): Promise<LocalPaceline> {
  const { place, close } = temporaryPlace()
  try {
    const vendors = await run(place, ['simulate', '--port', '0', '--activities', String(activities), ...FAST])
    const server = await run(place, ['up', ...FAST], {
      PACELINE_PORT: '0',
      PACELINE_ADMIN_TOKEN: ADMIN_TOKEN,
      PACELINE_LOG_LEVEL: 'error',
      STRAVA_CLIENT_ID: '1',
      STRAVA_CLIENT_SECRET: 'secret',
      STRAVA_BASE_URL: `${vendors}/strava`,
    })
    return { url: server, adminToken: ADMIN_TOKEN, [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}

interface Place {
  readonly folder: string
  readonly environment: NodeJS.ProcessEnv
  /** What is to be done at the end, the last first. */
  readonly atEnd: AsyncDisposableStack
}

/** Ctrl-C closes it, too. */
function temporaryPlace(): { place: Place; close: () => Promise<void> } {
  const atEnd = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'paceline-example-'))
  atEnd.defer(() => rmSync(folder, { recursive: true }))
  // Making a store takes seconds. The test of the examples gives one that is made already.
  const { PACELINE_EXAMPLE_STORE: made } = process.env
  if (made !== undefined) cpSync(made, join(folder, '.paceline'), { recursive: true })
  let closed: Promise<void> | undefined
  const close = (): Promise<void> => (closed ??= atEnd.disposeAsync())
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void close().then(() => process.exit(1)))
  const environment = { ...bareEnvironment(), PACELINE_CLOCK_ANCHOR: new Date().toISOString() }
  return { place: { folder, environment, atEnd }, close }
}

/** What is set on this machine for a Paceline of your own is not meant for this one. */
function bareEnvironment(): NodeJS.ProcessEnv {
  const isOurs = /^(PACELINE|STRAVA|GARMIN|OURA|WHOOP|FOURSQUARE|OTEL)_/
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOurs.test(name)))
}

/** Starts a command that runs until the end, and gives the first address that it prints. */
async function run({ folder, environment, atEnd }: Place, words: readonly string[], settings = {}): Promise<string> {
  const env = { ...environment, ...settings }
  const child = spawn(process.execPath, [PROGRAM, ...words], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  atEnd.defer(async () => {
    child.kill('SIGTERM')
    await ended
  })
  const lines = createInterface({ input: child.stdout })
  return await new Promise((resolve, reject) => {
    lines.on('line', line => {
      const [address] = /https?:\/\/[^\s;]+/.exec(line) ?? []
      if (address !== undefined) resolve(new URL(address).origin)
    })
    lines.once('close', () => reject(new Error(`paceline ${words[0]} ended before it had started.`)))
  })
}

export type Ask = <T>(method: string, path: string, body?: object) => Promise<T>

/** Asks the API with a token. A refusal carries a sentence and a code. */
export const asking =
  (url: string, token: string): Ask =>
  async <T>(method: string, path: string, body?: object): Promise<T> => {
    const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) }
    const answer = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    const said = (await answer.json()) as { error: string; code: string }
    if (!answer.ok) throw new Error(`${said.error} (${said.code})`)
    return said as T
  }

/**
 * What the athlete does in a browser: opens the vendor's page, leaves everything ticked, allows it and is sent back to Paceline. Nobody is
 * signed in there, so Paceline asks whether the account belongs to the athlete.
 */
export async function allow(authorizeUrl: string): Promise<void> {
  const page = await (await fetch(authorizeUrl)).text()
  const form = new URLSearchParams({ decision: 'approve' })
  for (const [, scope = ''] of page.matchAll(/name="scope" value="([^"]*)" checked/g)) form.append('scope', scope)
  const answer = await fetch(authorizeUrl, { method: 'POST', body: form, redirect: 'manual' })
  await confirm(new URL(answer.headers.get('location') ?? ''))
}

async function confirm(back: URL): Promise<void> {
  const asked = await fetch(back)
  const [, token = ''] = /name="token" value="([^"]*)"/.exec(await asked.text()) ?? []
  const cookie = asked.headers
    .getSetCookie()
    .map(each => each.split(';')[0])
    .join('; ')
  const body = new URLSearchParams({ token, decision: 'confirm' })
  await fetch(`${back.origin}${back.pathname}`, { method: 'POST', headers: { cookie }, body, redirect: 'manual' })
}

/** What example 01 shows in its first steps: a new athlete's token. */
export async function newAthlete({ url, adminToken }: LocalPaceline): Promise<string> {
  const operator = asking(url, adminToken)
  const { id } = await operator<{ id: string }>('POST', '/admin/athletes', { name: 'Ada' })
  return (await operator<{ token: string }>('POST', `/admin/athletes/${id}/tokens`)).token
}

/** And the next: the athlete connects to Strava. */
export async function connectStrava(athlete: Ask): Promise<void> {
  const { authorizeUrl } = await athlete<{ authorizeUrl: string }>('POST', '/v1/connections/strava')
  await allow(authorizeUrl)
}
