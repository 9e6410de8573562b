// Every variable that Paceline reads from its environment: its kind, its default and its meaning. The typed configuration, the check for
// unknown names, the reference page and doctor's explanations come from this table. Rules about two variables are in ../config.ts.
import { DAY_MS } from '../kernel/durations.ts'
import { vendors as known, type VendorName } from '../vendors/vendors.ts'
import type { Kind } from './kinds.ts'
import * as kinds from './kinds.ts'

export interface Setting<T = unknown, D extends string | undefined = string | undefined> extends Kind<T> {
  readonly means: string
  readonly group: string
  /** The text that is used when the variable is not set. */
  readonly default: D
  /** What applies when it is not set and has no default, in words. */
  readonly otherwise: string | undefined
}

type Ungrouped<S> = Omit<S, 'group'>
type Grouped<T> = { readonly [N in keyof T]: T[N] & { readonly group: string } }

function group<T extends Record<string, Ungrouped<Setting>>>(title: string, settings: T): Grouped<T> {
  const entries = Object.entries(settings).map(([name, setting]) => [name, { ...setting, group: title }])
  return Object.fromEntries(entries) as Grouped<T>
}

const standard = <T>(kind: Kind<T>, text: string, means: string): Ungrouped<Setting<T, string>> => ({
  ...kind,
  means,
  default: text,
  otherwise: undefined,
})

const optional = <T>(kind: Kind<T>, otherwise: string, means: string): Ungrouped<Setting<T, undefined>> => ({
  ...kind,
  means,
  default: undefined,
  otherwise,
})

const { whole } = kinds
const LONGEST_MS = 30 * DAY_MS
const duration = whole(1, LONGEST_MS)

const server = group('Server', {
  PACELINE_HOST: standard(kinds.host, '127.0.0.1', 'The address on which the API and the dashboard listen.'),
  PACELINE_PORT: standard(whole(0, 65_535), '8080', 'The port on which the API and the dashboard listen; 0 takes any free one.'),
  PACELINE_HEALTH_PORT: optional(
    whole(0, 65_535),
    'no such listener',
    'A second port, on which a process of any role answers `/healthz`, `/readyz` and `/metrics`; 0 takes any free one.',
  ),
  PACELINE_PUBLIC_URL: optional(
    kinds.origin,
    'http://127.0.0.1:<port>',
    'The address of this server for browsers and vendors; OAuth redirects and webhook callbacks begin with it. Only with https are cookies `Secure` and HSTS sent.',
  ),
  PACELINE_LOG_LEVEL: standard(
    kinds.logLevel,
    'info',
    'The lowest level that is logged. Logs go to stdout: JSON lines, or readable text on a terminal.',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(
    kinds.baseUrl,
    'no traces',
    'The OpenTelemetry collector that receives traces over OTLP/HTTP.',
  ),
  PACELINE_CLOCK_ANCHOR: optional(
    kinds.instant,
    'kept in the data folder since its first start',
    'With `--speed`: the instant at which scaled and real time are equal. Processes with the same anchor and speed agree on the time.',
  ),
})

const stores = group('Stores', {
  PACELINE_DATA_DIR: standard(kinds.folder, '.paceline', 'The folder of the embedded store and of generated secrets.'),
  PACELINE_POSTGRES_URL: optional(
    kinds.serverUrl('postgres', 'postgresql'),
    'embedded store',
    'PostgreSQL 15 or newer, in place of the embedded store.',
  ),
  PACELINE_REDIS_URL: optional(
    kinds.serverUrl('redis', 'rediss', 'https'),
    'the database keeps them',
    'Redis for call budgets and locks; https for a REST endpoint like that of Upstash.',
  ),
  PACELINE_REDIS_TOKEN: optional(kinds.secret, 'none', 'The token of a Redis REST endpoint.'),
  PACELINE_NATS_URL: optional(kinds.serverUrl('nats', 'tls'), 'queues in the database', 'NATS with JetStream, as the event bus.'),
})

const secrets = group('Secrets', {
  PACELINE_SECRET_KEY: optional(
    kinds.keys,
    'generated into the data folder',
    'Encrypts the vendors’ tokens: 32 bytes in base64. To rotate, put the new key first, a comma, then the old one.',
  ),
  PACELINE_ADMIN_TOKEN: optional(kinds.bearerToken, 'generated into the data folder', 'The bearer token of `/admin/*`.'),
  PACELINE_INGEST_TOKEN: optional(kinds.bearerToken, 'generated into the data folder', 'The bearer token of `/api/v1/ingest/*`.'),
})

const vendorPattern = (title: string, unsigned: string) => ({
  CLIENT_ID: optional(kinds.text, 'not connected', `The client id of your ${title} application.`),
  CLIENT_SECRET: optional(kinds.secret, 'not connected', 'The secret that belongs to the client id.'),
  BASE_URL: optional(kinds.baseUrl, `${title}’s own hosts`, `Replaces every host of ${title}; paths stay as they are.`),
  WEBHOOK_VERIFY_TOKEN: optional(kinds.secret, 'none', `What ${title} repeats when it verifies the webhook callback.`),
  WEBHOOK_SECRET: optional(kinds.secret, unsigned, 'Proves that a webhook was signed by the vendor.'),
  RETENTION_DAYS: optional(whole(1, 36_500), 'kept for ever', `Data of ${title} older than this is deleted.`),
})
type VendorPattern = ReturnType<typeof vendorPattern>

type VendorSettings<V extends string> = Grouped<{ [S in keyof VendorPattern as `${Uppercase<V>}_${S}`]: VendorPattern[S] }>

function vendor<V extends VendorName>(name: V, unsigned = 'none'): VendorSettings<V> {
  const { title } = known[name].facts
  const settings = Object.entries(vendorPattern(title, unsigned))
  const named = settings.map(([suffix, setting]) => [`${name.toUpperCase()}_${suffix}`, setting] as const)
  return group(title, Object.fromEntries(named)) as VendorSettings<V>
}

const vendors = {
  ...vendor('strava', 'unsigned webhooks of our own subscription are accepted'),
  ...group(known.strava.facts.title, {
    STRAVA_READ_LIMIT: standard(
      kinds.limits,
      '100,1000',
      'Reads per 15 minutes and per day, until Strava’s headers say otherwise.',
    ),
    STRAVA_OVERALL_LIMIT: standard(
      kinds.limits,
      '200,2000',
      'All calls per 15 minutes and per day, until Strava’s headers say otherwise.',
    ),
  }),
  ...vendor('oura', 'the client secret'),
  ...vendor('whoop', 'the client secret'),
  ...vendor('garmin'),
  ...vendor('foursquare'),
}

const pace = group('Pace', {
  PACELINE_QUOTA_BUFFER: standard(kinds.fraction(0, 0.9), '0.05', 'The part of every vendor limit that is left unused.'),
  // Half of the shortest window (15 minutes): more would leave no time to send in.
  PACELINE_QUOTA_GUARD_MS: standard(
    whole(0, 450_000),
    '3000',
    'This close to the edge of a window a live call counts in both windows and backfill waits, because clocks differ.',
  ),
  PACELINE_LIVE_RESERVE: standard(
    whole(0, 1_000_000),
    '100',
    'Calls of each day that backfill leaves to live calls; shrinks evenly until midnight UTC.',
  ),
  PACELINE_BACKFILL_YIELD: standard(whole(0, 1_000_000), '20', 'Calls of a short window that backfill leaves to live calls.'),
  PACELINE_BACKFILL_ORDER: standard(kinds.oneOf(['newest', 'oldest']), 'newest', 'Which activities’ streams are fetched first.'),
  PACELINE_POLL_MINUTES: standard(
    whole(1, 43_200),
    '30',
    'How often each connection is checked for new data; once a day while its webhooks arrive.',
  ),
  PACELINE_STREAM_CONCURRENCY: standard(
    whole(1, 64),
    '4',
    'Details and streams fetched at the same time by one process. Calls that somebody waits for have four times as many slots of their own.',
  ),
  PACELINE_STREAM_SETTLE_MS: standard(
    whole(0, LONGEST_MS),
    '1800000',
    'How long after an upload streams that are missing may still appear.',
  ),
})

const SLEEP_VENDORS = ['oura', 'whoop', 'garmin', 'unknown'] as const

const sleep = group('Sleep and notifications', {
  PACELINE_SLEEP_PRIORITY: standard(
    kinds.ranking(SLEEP_VENDORS),
    SLEEP_VENDORS.join(','),
    'Whose night counts when several vendors have one.',
  ),
  PACELINE_NOTIFY_URL: optional(kinds.link, 'no notifications are sent', 'Where notifications are sent, as signed webhooks.'),
  PACELINE_NOTIFY_SECRET: optional(kinds.secret, 'none', 'Signs the notifications.'),
  NORMALIZE_SLEEP_DURABLE: standard(kinds.durableName, 'normalize-sleep-durable', 'The name of the sleep consumer on the bus.'),
  NORMALIZE_SLEEP_MAX_DELIVER: standard(whole(1, 1000), '5', 'Deliveries of a message before it becomes a dead letter.'),
  PACELINE_DEAD_LETTER_DAYS: standard(whole(1, 365), '7', 'How long a message that nobody could handle is kept.'),
  NORMALIZE_SLEEP_ACK_WAIT_MS: standard(duration, '60000', 'How long a message may take before it is delivered again.'),
})

const stremio = group('Stremio add-on', {
  STREMIO_BROKER_URL: optional(
    kinds.baseUrl,
    'the add-on answers with the fallback',
    'The broker that turns a title into a stream.',
  ),
  STREMIO_FALLBACK_URL: optional(kinds.link, 'the built-in clip', 'The video that is shown when there is no stream.'),
  STREMIO_MAX_SESSIONS: standard(whole(1, 100_000), '2', 'How many may watch at the same time.'),
  STREMIO_SLOT_TTL_MS: standard(duration, '3600000', 'The longest that a slot is held without being renewed.'),
  STREMIO_INACTIVITY_MS: standard(duration, '1200000', 'A session not seen for this long is over.'),
  STREMIO_ROTATION_IDLE_MS: standard(duration, '45000', 'A session not seen for this long may lose its slot to another one.'),
  STREMIO_GRACE_MS: standard(whole(0, LONGEST_MS), '15000', 'Nobody loses a slot within this time of being seen.'),
  STREMIO_ATTEMPT_TIMEOUT_MS: standard(duration, '900', 'How long one call of the broker may take.'),
  STREMIO_TOTAL_TIMEOUT_MS: standard(duration, '1800', 'How long all attempts together may take.'),
  STREMIO_RETRY_JITTER_MS: standard(whole(0, LONGEST_MS), '120', 'The longest random pause before the second attempt.'),
  STREMIO_TRUST_PROXY: standard(kinds.proxies, 'loopback', 'Whose X-Forwarded-For is believed.'),
})

export const settings = { ...server, ...stores, ...secrets, ...vendors, ...pace, ...sleep, ...stremio }

export type SettingName = keyof typeof settings

export type Values = {
  readonly [N in SettingName]: (typeof settings)[N] extends { schema: Kind<infer T>['schema']; default: infer D }
    ? D extends string
      ? T
      : T | undefined
    : never
}
