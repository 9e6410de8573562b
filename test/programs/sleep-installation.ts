// The whole program on PostgreSQL and NATS servers of a test's own, as far as nights are concerned.
import type { Database } from '../../src/db/db.ts'
import { openPostgres } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { testFolder } from '../stores.ts'
import { up, type Settings, type Up } from './paceline.ts'

const ADMIN = 'pace_admin_of_the_nights'
const INGEST = 'pace_ingest_of_the_nights'
export const DURABLE = 'normalize-sleep-durable'

export interface Answered<T = Readonly<Record<string, unknown>>> {
  readonly status: number
  readonly body: T
}

export interface SleepInstallation {
  readonly settings: Settings
  /** Beside the program's. */
  readonly database: Database
  server(): Up
  /** Starts the program anew, after a kill. */
  restart(): Promise<void>
  ingest(body: unknown, key?: string): Promise<Answered>
  admin<T>(method: string, path: string, body?: object): Promise<Answered<T>>
  /** The lines of /metrics that begin so. */
  metrics(prefix: string): Promise<readonly string[]>
  /** People who have a row. */
  stored(): Promise<ReadonlySet<string>>
  stop(): Promise<void>
}

/** A message that died with its process comes again so soon that a test can wait for it. */
const ACK_WAIT_MS = '3000'

export async function installSleep(postgresUrl: string, natsUrl: string): Promise<SleepInstallation> {
  const folder = testFolder()
  const settings = {
    PACELINE_POSTGRES_URL: postgresUrl,
    PACELINE_NATS_URL: natsUrl,
    PACELINE_ADMIN_TOKEN: ADMIN,
    PACELINE_INGEST_TOKEN: INGEST,
    PACELINE_PORT: '0',
    NORMALIZE_SLEEP_ACK_WAIT_MS: ACK_WAIT_MS,
  }
  let server = await up(folder.path, settings)
  const database = await openPostgres({ url: postgresUrl, clock: new SystemClock() })
  const asked = async <T>(path: string, init: RequestInit): Promise<Answered<T>> => {
    const answer = await fetch(`${server.url}${path}`, init)
    return { status: answer.status, body: (await answer.json()) as T }
  }
  const headersOf = (token: string): Record<string, string> => ({
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
  })
  return {
    settings,
    database,
    server: () => server,
    restart: async () => {
      server = await up(folder.path, settings)
    },
    ingest: async (body, key) => {
      const headers = { ...headersOf(INGEST), ...(key !== undefined && { 'idempotency-key': key }) }
      return await asked('/api/v1/ingest/sleep', { method: 'POST', headers, body: JSON.stringify(body) })
    },
    admin: async (method, path, body) => {
      const { 'content-type': type, ...headers } = headersOf(ADMIN)
      const sent = body === undefined ? {} : { body: JSON.stringify(body) }
      return await asked(path, { method, headers: { ...headers, ...(body && type && { 'content-type': type }) }, ...sent })
    },
    metrics: async prefix => {
      const text = await (await fetch(`${server.url}/metrics`)).text()
      return text.split('\n').filter(line => line.startsWith(prefix))
    },
    stored: async () => {
      const rows = await database.query<{ user_id: string }>('select user_id from sleep_data')
      return new Set(rows.map(row => row.user_id))
    },
    stop: async () => {
      await server.stop()
      await database.close()
      folder.remove()
    },
  }
}
