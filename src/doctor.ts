// The system check: examines what Paceline needs and says in sentences what is wrong and what to do. It opens nothing itself: a running
// server passes its own connections, the command line opens them for the check.
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { SECRETS_FILE } from './accounts/accounts.ts'
import { configurationReference, type Config } from './config.ts'
import type { Database } from './db/db.ts'
import type { Nats } from './events/events.ts'
import type { Finding } from './http/http.ts'
import { hasCode, PacelineError, reasonOf } from './kernel/errors.ts'
import type { Redis } from './redis/redis.ts'
import type { VendorName } from './vendors/vendors.ts'

/** The vendors whose work is held up now, and why. */
export type HeldUp = () => Promise<readonly { readonly vendor: VendorName; readonly cause: string }[]>

export const STRAVA_INACTIVE = 'Strava has switched this application off: its owner needs a subscription.'

interface Examined {
  readonly folder: string
  /** The open store, why it does not open, or undefined where there is none yet. */
  readonly database: Database | PacelineError | undefined
  readonly redis: Pick<Redis, 'ping'> | undefined
  readonly nats: Pick<Nats, 'ping'> | undefined
  /** Absent where there is no store yet. */
  readonly gates?: HeldUp | undefined
}

const LEAST_NODE = 24
const LEAST_POSTGRES = 150_000

export async function diagnose(config: Config, patient: Examined): Promise<Finding[]> {
  const findings = [
    nodeFinding(process.versions.node),
    folderFinding(patient.folder),
    secretsFinding(config, patient.folder),
    await databaseFinding(patient.database),
    await serverFinding('redis', 'PACELINE_REDIS_URL', patient.redis),
    await serverFinding('nats', 'PACELINE_NATS_URL', patient.nats),
    ...Object.entries(config.vendors).map(([vendor, { clientId }]) => credentialsFinding(vendor, clientId)),
    ...((await isStravaInactive(patient.gates)) ? [INACTIVE_FINDING] : []),
    publicUrlFinding(config),
    ...givenFindings(config),
  ]
  return findings
}

const ok = (check: string, sentence: string): Finding => ({ check, level: 'ok', sentence })

export function nodeFinding(version: string): Finding {
  if (Number.parseInt(version, 10) >= LEAST_NODE) return ok('node', `Node ${version} runs Paceline.`)
  return {
    check: 'node',
    level: 'error',
    sentence: `Node ${version} is too old.`,
    todo: `Run \`npm install\` here, which installs Node ${LEAST_NODE} for Paceline, or install it yourself.`,
  }
}

function folderFinding(folder: string): Finding {
  if (!existsSync(folder)) return ok('data folder', `${folder} does not exist yet; the first start creates it.`)
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch {
    return {
      check: 'data folder',
      level: 'error',
      sentence: `${folder} is not writable.`,
      todo: 'Make the user that runs Paceline its owner, or set PACELINE_DATA_DIR to another folder.',
    }
  }
  return ok('data folder', `${folder} is writable.`)
}

function secretsFinding(config: Config, folder: string): Finding {
  const file = join(folder, SECRETS_FILE)
  if (existsSync(file) && (statSync(file).mode & 0o077) !== 0) {
    return { check: 'secrets', level: 'error', sentence: `Other users can read ${file}.`, todo: `Run \`chmod 600 ${file}\`.` }
  }
  if (config.postgresUrl !== undefined && config.secretKeys === undefined) {
    return {
      check: 'secrets',
      level: 'warning',
      sentence:
        'The key that encrypts vendor tokens is only in this data folder; another process on the same PostgreSQL would make its own.',
      todo: 'Set PACELINE_SECRET_KEY, the same for every process.',
    }
  }
  return ok('secrets', config.secretKeys === undefined ? `They are in ${file}.` : 'The key is given by PACELINE_SECRET_KEY.')
}

async function databaseFinding(database: Examined['database']): Promise<Finding> {
  if (database === undefined) return ok('store', 'It does not exist yet; the first start creates it.')
  if (hasCode(database, 'PACE_STORE_LOCKED'))
    return { check: 'store', level: 'warning', sentence: reasonOf(database), todo: 'If that is a running Paceline, all is well.' }
  if (database instanceof PacelineError)
    return {
      check: 'store',
      level: 'error',
      sentence: reasonOf(database),
      todo: 'Start the database, or correct PACELINE_POSTGRES_URL or PACELINE_DATA_DIR.',
    }
  try {
    const [row] = await database.query<{ name: string; number: number }>(
      "select version() as name, current_setting('server_version_num')::int as number",
    )
    const name = row?.name.split(' on ', 1)[0] ?? 'The database'
    if ((row?.number ?? 0) < LEAST_POSTGRES)
      return { check: 'store', level: 'error', sentence: `${name} is too old.`, todo: 'Use PostgreSQL 15 or newer.' }
    return ok('store', `${name} ${database.kind === 'pglite' ? '(embedded) ' : ''}answers.`)
  } catch (error) {
    return {
      check: 'store',
      level: 'error',
      sentence: reasonOf(error),
      todo: 'Start PostgreSQL, or correct PACELINE_POSTGRES_URL.',
    }
  }
}

async function serverFinding(check: string, variable: string, server: { ping(): Promise<void> } | undefined): Promise<Finding> {
  if (server === undefined) return ok(check, `Not used, because ${variable} is not set; the database does its work.`)
  try {
    await server.ping()
    return ok(check, 'It answers.')
  } catch (error) {
    return { check, level: 'error', sentence: reasonOf(error), todo: `Start it, or correct ${variable}.` }
  }
}

function credentialsFinding(vendor: string, clientId: string | undefined): Finding {
  if (clientId !== undefined) return ok(vendor, 'Credentials are set.')
  const prefix = vendor.toUpperCase()
  return {
    check: vendor,
    level: 'warning',
    sentence: 'No credentials are set, so athletes cannot connect it.',
    todo: `Set ${prefix}_CLIENT_ID and ${prefix}_CLIENT_SECRET.`,
  }
}

const INACTIVE_FINDING: Finding = {
  check: 'strava application',
  level: 'error',
  sentence: STRAVA_INACTIVE,
  todo: 'Renew the subscription of the Strava account that owns the application; then everything goes on by itself.',
}

/** Gates that cannot be read say nothing of Strava; the check of the store says it. */
export async function isStravaInactive(gates: HeldUp = () => Promise.resolve([])): Promise<boolean> {
  const held = await gates().catch(() => [])
  return held.some(({ vendor, cause }) => vendor === 'strava' && cause === 'inactive')
}

function publicUrlFinding({ host, publicUrl }: Config): Finding {
  const local = ['127.0.0.1', 'localhost', '::1'].includes(host)
  if (publicUrl.startsWith('https:') || local) return ok('public url', `Browsers and vendors reach Paceline at ${publicUrl}.`)
  return {
    check: 'public url',
    level: 'warning',
    sentence: `${publicUrl} is plain http on ${host}, so tokens cross the network unencrypted.`,
    todo: 'Put a proxy with https in front and set PACELINE_PUBLIC_URL.',
  }
}

/** What each given variable means, without its value, which may be a secret. */
function givenFindings({ given }: Config): Finding[] {
  const names = new Set<string>(given)
  return configurationReference.filter(({ name }) => names.has(name)).map(({ name, means }) => ok(name, means))
}
