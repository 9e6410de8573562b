// The only reader of the environment. It gives a typed, frozen configuration, or throws one PACE_CONFIG error that names every problem and
// repeats no secret. config/settings.ts lists the variables. Generated secrets and the clock's anchor in the data folder are read elsewhere
// (accounts/secrets.ts, kernel/folder-clock.ts).
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { hasCode, PacelineError, reasonOf } from './kernel/errors.ts'
import { nearest } from './config/nearest.ts'
import { settings, type Setting, type SettingName, type Values } from './config/settings.ts'
import { vendorNames, type VendorName } from './vendors/vendors.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export type Config = ReturnType<typeof arrange>

/** Every variable in the order of the documentation; `default` is its default value, or says what applies without it. */
export const configurationReference: readonly { name: string; default?: string; means: string; group: string }[] =
  Object.entries<Setting>(settings).map(([name, setting]) => {
    const otherwise = setting.default ?? setting.otherwise
    return { name, ...(otherwise === undefined ? {} : { default: otherwise }), means: setting.means, group: setting.group }
  })

/** The process's environment together with the folder's `.env` file. A variable that is set, even to nothing, hides the file's. */
export function loadConfig(folder: string = process.cwd(), environment: Environment = process.env): Config {
  return readConfig({ ...readEnvFile(join(folder, '.env')), ...environment })
}

export function readConfig(environment: Environment): Config {
  const given = givenIn(environment)
  const { values, problems } = parse(given)
  const all = [...unknownNames(given), ...problems, ...contradictions(values)]
  if (all.length > 0) throw new PacelineError('PACE_CONFIG', all.join(' '), { details: all })
  return arrange(values as Values, Object.keys(given).filter(isSetting))
}

function readEnvFile(path: string): Environment {
  try {
    // Some editors begin a file with a byte order mark, which would become part of the first name.
    return parseEnv(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''))
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return {}
    throw new PacelineError('PACE_CONFIG', `The .env file cannot be read: ${reasonOf(error)}.`, { cause: error })
  }
}

type Given = Readonly<Record<string, string>>

function givenIn(environment: Environment): Given {
  const trimmed = Object.entries(environment).map(([name, value]) => [name, value?.trim() ?? ''] as const)
  return Object.fromEntries(trimmed.filter(([, value]) => value !== ''))
}

const isSetting = (name: string): name is SettingName => Object.hasOwn(settings, name)

function parse(given: Given): { values: Partial<Values>; problems: string[] } {
  const values: Record<string, unknown> = {}
  const problems: string[] = []
  for (const [name, setting] of Object.entries<Setting>(settings)) {
    const text = Object.hasOwn(given, name) ? given[name] : setting.default
    if (text === undefined) continue
    const parsed = setting.schema.safeParse(text)
    if (parsed.success) values[name] = parsed.data
    else problems.push(`${name} ${setting.secret ? 'has a wrong form' : `is ${quoted(text)}`}; it must be ${setting.expects}.`)
  }
  return { values, problems }
}

const quoted = (text: string): string => JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)

/** `PACELINE_TEST_*` belongs to the test runner. Names with a vendor's prefix may belong to other programs. */
function unknownNames(given: Given): string[] {
  const unknown = Object.keys(given).filter(name => /^PACELINE_(?!TEST_)/.test(name) && !isSetting(name))
  return unknown.map(name => `${name} is not a variable of Paceline. Did you mean ${nearestSetting(name)}?`)
}

/** People often put our prefix before a vendor's variable, so the name without it is tried first. */
function nearestSetting(name: string): string {
  const bare = name.replace('PACELINE_', '')
  return isSetting(bare) ? bare : nearest(name, Object.keys(settings))
}

function contradictions(values: Partial<Values>): string[] {
  const problems = vendorNames.flatMap(vendor => halfCredentials(vendor, values))
  if (/^https:/i.test(values.PACELINE_REDIS_URL ?? '') && values.PACELINE_REDIS_TOKEN === undefined) {
    problems.push('PACELINE_REDIS_URL is an https endpoint, which needs PACELINE_REDIS_TOKEN.')
  }
  const admin = values.PACELINE_ADMIN_TOKEN
  if (admin !== undefined && admin === values.PACELINE_INGEST_TOKEN) {
    problems.push('PACELINE_ADMIN_TOKEN and PACELINE_INGEST_TOKEN must differ: whoever may ingest would be an administrator.')
  }
  return problems
}

function halfCredentials(vendor: VendorName, values: Partial<Values>): string[] {
  const [id, secret] = [`${upper(vendor)}_CLIENT_ID`, `${upper(vendor)}_CLIENT_SECRET`] as const
  if ((values[id] === undefined) === (values[secret] === undefined)) return []
  const [present, absent] = values[id] === undefined ? [secret, id] : [id, secret]
  return [`${present} is given without ${absent}; a vendor needs both.`]
}

const upper = <V extends VendorName>(vendor: V): Uppercase<V> => vendor.toUpperCase() as Uppercase<V>

function arrange(values: Values, given: readonly SettingName[]) {
  return deepFreeze({
    host: values.PACELINE_HOST,
    port: values.PACELINE_PORT,
    healthPort: values.PACELINE_HEALTH_PORT,
    publicUrl: values.PACELINE_PUBLIC_URL ?? `http://127.0.0.1:${values.PACELINE_PORT}`,
    logLevel: values.PACELINE_LOG_LEVEL,
    otlpEndpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT,
    clockAnchor: values.PACELINE_CLOCK_ANCHOR,
    dataDir: values.PACELINE_DATA_DIR,
    postgresUrl: values.PACELINE_POSTGRES_URL,
    redisUrl: values.PACELINE_REDIS_URL,
    redisToken: values.PACELINE_REDIS_TOKEN,
    natsUrl: values.PACELINE_NATS_URL,
    secretKeys: values.PACELINE_SECRET_KEY,
    adminToken: values.PACELINE_ADMIN_TOKEN,
    ingestToken: values.PACELINE_INGEST_TOKEN,
    vendors: vendorConfigs(values),
    pollMinutes: values.PACELINE_POLL_MINUTES,
    ...workConfig(values),
    sleep: { priority: values.PACELINE_SLEEP_PRIORITY },
    notify: { url: values.PACELINE_NOTIFY_URL, secret: values.PACELINE_NOTIFY_SECRET },
    normaliseSleep: {
      durable: values.NORMALIZE_SLEEP_DURABLE,
      maxDeliver: values.NORMALIZE_SLEEP_MAX_DELIVER,
      ackWaitMs: values.NORMALIZE_SLEEP_ACK_WAIT_MS,
    },
    deadLetterDays: values.PACELINE_DEAD_LETTER_DAYS,
    stremio: stremioConfig(values),
    /** Which variables were given; doctor explains them. */
    given,
  })
}

const workConfig = (values: Values) => ({
  quota: {
    buffer: values.PACELINE_QUOTA_BUFFER,
    guardMs: values.PACELINE_QUOTA_GUARD_MS,
    liveReserve: values.PACELINE_LIVE_RESERVE,
    backfillYield: values.PACELINE_BACKFILL_YIELD,
    backfillOrder: values.PACELINE_BACKFILL_ORDER,
  },
  streams: { concurrency: values.PACELINE_STREAM_CONCURRENCY, settleMs: values.PACELINE_STREAM_SETTLE_MS },
})

const stremioConfig = (values: Values) => ({
  brokerUrl: values.STREMIO_BROKER_URL,
  fallbackUrl: values.STREMIO_FALLBACK_URL,
  maxSessions: values.STREMIO_MAX_SESSIONS,
  slotTtlMs: values.STREMIO_SLOT_TTL_MS,
  inactivityMs: values.STREMIO_INACTIVITY_MS,
  rotationIdleMs: values.STREMIO_ROTATION_IDLE_MS,
  graceMs: values.STREMIO_GRACE_MS,
  attemptTimeoutMs: values.STREMIO_ATTEMPT_TIMEOUT_MS,
  totalTimeoutMs: values.STREMIO_TOTAL_TIMEOUT_MS,
  retryJitterMs: values.STREMIO_RETRY_JITTER_MS,
  trustProxy: values.STREMIO_TRUST_PROXY,
})

type VendorConfig = ReturnType<typeof vendorConfig>

function vendorConfigs(values: Values) {
  const every = vendorNames.map(name => [name, vendorConfig(name, values)])
  const { strava, ...others } = Object.fromEntries(every) as Record<VendorName, VendorConfig>
  return { ...others, strava: { ...strava, readLimit: values.STRAVA_READ_LIMIT, overallLimit: values.STRAVA_OVERALL_LIMIT } }
}

const vendorConfig = (vendor: VendorName, values: Values) => ({
  clientId: values[`${upper(vendor)}_CLIENT_ID`],
  clientSecret: values[`${upper(vendor)}_CLIENT_SECRET`],
  baseUrl: values[`${upper(vendor)}_BASE_URL`],
  webhookVerifyToken: values[`${upper(vendor)}_WEBHOOK_VERIFY_TOKEN`],
  webhookSecret: values[`${upper(vendor)}_WEBHOOK_SECRET`],
  retentionDays: values[`${upper(vendor)}_RETENTION_DAYS`],
})

type Frozen<T> = T extends Uint8Array ? T : T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T

/** Bytes stay as they are: a typed array cannot be frozen. */
function deepFreeze<T>(value: T): Frozen<T> {
  if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value)) {
    for (const member of Object.values(value)) deepFreeze(member)
    Object.freeze(value)
  }
  return value as Frozen<T>
}
