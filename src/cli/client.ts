// Sends a command's requests. They go to a running server over HTTP, because only that one may open the embedded store. When none runs, the
// engine is opened in this process and gets the same requests through the same routes. Commands do not see the difference.
import { PacelineError, reasonOf, type ErrorCode } from '../kernel/errors.ts'
import { openSecrets } from '../accounts/accounts.ts'
import type { Config } from '../config.ts'
import type { Random } from '../kernel/random.ts'
import { secure } from '../kernel/random.ts'
import { announcedIn } from './announcement.ts'
import { homeOf, storedHome } from './home.ts'
import type { CliContext } from './context.ts'

interface Answer {
  readonly status: number
  readonly body: unknown
}
export interface Client {
  /** The running server's address; undefined when the engine was opened in this process. */
  readonly url: string | undefined
  /** `athlete`: whom an athlete's route is used for. */
  ask(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    given?: { readonly body?: unknown; readonly athlete?: string },
  ): Promise<Answer>
  close(): Promise<void>
}

/** Its process lives, so a server that is slow to answer is busy, not absent. */
const ANSWER_DEADLINE_MS = 60_000

interface Running {
  readonly url: string
  readonly folder: string
}

async function connect(context: CliContext, config: Config): Promise<Client> {
  return (await runningClient(context, config)) ?? (await ownClient(context, config))
}

/** For commands that need a running server. */
export async function connectRunning(context: CliContext, config: Config): Promise<Client> {
  const client = await runningClient(context, config)
  if (client === undefined)
    throw new PacelineError(
      'PACE_NOT_RUNNING',
      `No Paceline is running on the data folder ${config.dataDir}; start it with \`paceline up\`.`,
    )
  return client
}

/** On PostgreSQL the processes may be anywhere, or not listen; then the database is asked what it knows of them. */
export async function connectSeen(context: CliContext, config: Config): Promise<Client> {
  return await (config.postgresUrl === undefined ? connectRunning(context, config) : connect(context, config))
}

async function runningClient(context: CliContext, config: Config): Promise<Client | undefined> {
  for (const folder of homeOf(config).folders) {
    const url = announcedIn(folder)
    if (url !== undefined && (await answers(context, url))) return overHttp(context, config, { url, folder })
  }
  return undefined
}

async function answers({ clock }: CliContext, url: string): Promise<boolean> {
  return await fetch(`${url}/healthz`, { signal: clock.deadline(ANSWER_DEADLINE_MS) }).then(
    response => response.ok,
    () => false,
  )
}

function overHttp({ clock }: CliContext, config: Config, { url, folder }: Running): Client {
  const { adminToken } = openSecrets(folder, config, unused)
  return {
    url,
    ask: async (method, path, { body, athlete } = {}) => {
      const headers = { ...headersOf(adminToken, athlete), ...(body !== undefined && { 'content-type': 'application/json' }) }
      const request = {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: clock.deadline(ANSWER_DEADLINE_MS),
      }
      const response = await fetch(`${url}${path}`, request).catch((error: unknown) => {
        throw new PacelineError('PACE_NOT_RUNNING', `The running Paceline at ${url} does not answer: ${reasonOf(error)}`, {
          cause: error,
        })
      })
      return { status: response.status, body: parsed(await response.text()) }
    },
    close: () => Promise.resolve(),
  }
}

/** A running server has made its secrets, so none may be made here. */
const unused: Random = {
  next: () => secure().next(),
  bytes: () => {
    throw new PacelineError('PACE_NOT_RUNNING', 'The running Paceline has no secrets in its data folder; restart it.')
  },
}

async function ownClient(context: CliContext, config: Config): Promise<Client> {
  const home = storedHome(config)
  if (home.demo) context.terminal.error(`No Paceline is running; using the demo's store in ${home.folder}.`)
  const engine = await context.openEngine(config, {
    folder: home.folder,
    demo: home.demo,
    speed: undefined,
    roles: [],
    quiet: true,
  })
  return {
    url: undefined,
    ask: async (method, url, { body: payload, athlete } = {}) => {
      const headers = headersOf(engine.secrets.adminToken, athlete)
      const response = await engine.app.inject({
        method,
        url,
        headers,
        ...(payload !== undefined && { payload: payload as object }),
      })
      return { status: response.statusCode, body: parsed(response.body) }
    },
    close: () => engine.close(),
  }
}

const headersOf = (token: string, athlete: string | undefined): Record<string, string> => ({
  authorization: `Bearer ${token}`,
  ...(athlete !== undefined && { 'x-paceline-athlete': athlete }),
})

const parsed = (text: string): unknown => (text === '' ? null : (JSON.parse(text) as unknown))

/** The body of a successful answer. A failure is thrown with its sentence and code. */
export function good<T>({ status, body }: Answer): T {
  if (status < 400) return body as T
  const { error, code, details } = body as { error: string; code: ErrorCode; details?: string[] }
  throw new PacelineError(code, details === undefined ? error : `${error}: ${details.join('; ')}`, details && { details })
}

/** Opens a client for the work and closes it afterwards. */
export async function asking<T>(context: CliContext, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await connect(context, context.loadConfig())
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}
