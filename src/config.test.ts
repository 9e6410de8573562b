import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { configurationReference, loadConfig, readConfig } from './config.ts'
import type { Environment } from './config.ts'
import { PacelineError } from './kernel/errors.ts'
import { runs } from '../test/runs.ts'

function problemsOf(environment: Environment): readonly string[] {
  try {
    readConfig(environment)
  } catch (error) {
    assert(error instanceof PacelineError && error.code === 'PACE_CONFIG', String(error))
    assert(error.details && error.details.length > 0)
    for (const detail of error.details) assert(error.message.includes(detail), 'the sentence tells every problem')
    return error.details
  }
  return []
}

function refused(environment: Environment, ...wording: readonly RegExp[]): void {
  const problems = problemsOf(environment)
  assert.equal(problems.length, wording.length, `${JSON.stringify(environment)}: ${problems.join(' | ')}`)
  for (const [index, words] of wording.entries()) assert.match(problems[index] ?? '', words)
}

const key = (): string => randomBytes(32).toString('base64')
const CLIENT = { OURA_CLIENT_ID: 'id', OURA_CLIENT_SECRET: 'of-the-client' }

test('an empty environment gives the defaults of the contract', () => {
  const { vendors, ...config } = readConfig({})
  assert.deepEqual(JSON.parse(JSON.stringify(config)), {
    host: '127.0.0.1',
    port: 8080,
    publicUrl: 'http://127.0.0.1:8080',
    logLevel: 'info',
    dataDir: resolve('.paceline'),
    pollMinutes: 30,
    quota: { buffer: 0.05, guardMs: 3000, liveReserve: 100, backfillYield: 20, backfillOrder: 'newest' },
    streams: { concurrency: 4, settleMs: 1_800_000 },
    sleep: { priority: ['oura', 'whoop', 'garmin', 'unknown'] },
    notify: {},
    normaliseSleep: { durable: 'normalize-sleep-durable', maxDeliver: 5, ackWaitMs: 60_000 },
    deadLetterDays: 7,
    stremio: {
      maxSessions: 2,
      slotTtlMs: 3_600_000,
      inactivityMs: 1_200_000,
      rotationIdleMs: 45_000,
      graceMs: 15_000,
      attemptTimeoutMs: 900,
      totalTimeoutMs: 1800,
      retryJitterMs: 120,
      trustProxy: ['loopback'],
    },
    given: [],
  })
  assert.deepEqual(JSON.parse(JSON.stringify(vendors)), {
    strava: { readLimit: { short: 100, day: 1000 }, overallLimit: { short: 200, day: 2000 } },
    oura: {},
    whoop: {},
    garmin: {},
    foursquare: {},
  })
})

test('every variable of the contract is known, and no other', () => {
  const own =
    `HOST PORT HEALTH_PORT PUBLIC_URL DATA_DIR POSTGRES_URL REDIS_URL REDIS_TOKEN NATS_URL SECRET_KEY ADMIN_TOKEN INGEST_TOKEN LOG_LEVEL CLOCK_ANCHOR
    QUOTA_BUFFER QUOTA_GUARD_MS LIVE_RESERVE BACKFILL_YIELD BACKFILL_ORDER POLL_MINUTES STREAM_CONCURRENCY STREAM_SETTLE_MS SLEEP_PRIORITY
    NOTIFY_URL NOTIFY_SECRET DEAD_LETTER_DAYS`.split(/\s+/)
  const vendor = ['CLIENT_ID', 'CLIENT_SECRET', 'BASE_URL', 'WEBHOOK_VERIFY_TOKEN', 'WEBHOOK_SECRET', 'RETENTION_DAYS']
  const stremio = `BROKER_URL FALLBACK_URL MAX_SESSIONS SLOT_TTL_MS INACTIVITY_MS ROTATION_IDLE_MS GRACE_MS ATTEMPT_TIMEOUT_MS
    TOTAL_TIMEOUT_MS RETRY_JITTER_MS TRUST_PROXY`.split(/\s+/)
  const expected = [
    ...own.map(name => `PACELINE_${name}`),
    ...['STRAVA', 'OURA', 'WHOOP', 'GARMIN', 'FOURSQUARE'].flatMap(prefix => vendor.map(name => `${prefix}_${name}`)),
    ...stremio.map(name => `STREMIO_${name}`),
    ...['DURABLE', 'MAX_DELIVER', 'ACK_WAIT_MS'].map(name => `NORMALIZE_SLEEP_${name}`),
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'STRAVA_READ_LIMIT',
    'STRAVA_OVERALL_LIMIT',
  ]
  assert.deepEqual(configurationReference.map(entry => entry.name).toSorted(), expected.toSorted())
})

test('every entry of the reference says what it means and what holds without it', () => {
  for (const entry of configurationReference) {
    assert.match(entry.means, /^[A-Z].*\.$/s, entry.name)
    assert(entry.default && entry.group, entry.name)
  }
})

test('a misspelt name is refused with the nearest right one', () => {
  refused({ PACELINE_PROT: '1' }, /^PACELINE_PROT is not a variable of Paceline\. Did you mean PACELINE_PORT\?$/)
  refused({ PACELINE_POSTGRESURL: 'x' }, /PACELINE_POSTGRES_URL\?/)
  refused({ PACELINE_REDIS_TOKENS: 'x' }, /PACELINE_REDIS_TOKEN\?/)
  refused({ PACELINE_OURA_BASE_URL: 'x' }, /Did you mean OURA_BASE_URL\?/)
})

test('names of others are left alone: the test runner’s, and near misses with a vendor’s prefix', () => {
  const others = { PACELINE_TEST_PG: 'x', STRAVA_CLIENT_IDD: 'x', STREMIO_PORT: '1', OTEL_SERVICE_NAME: 'x', constructor: 'x' }
  assert.deepEqual(readConfig(others).given, [])
})

test('all problems are told at once', () => {
  refused(
    { PACELINE_PROT: '1', PACELINE_PORT: 'x', GARMIN_CLIENT_ID: 'x' },
    /PACELINE_PROT/,
    /PACELINE_PORT is "x"/,
    /GARMIN_CLIENT_SECRET/,
  )
})

test('an empty or blank value counts as not given, and blanks around a value are dropped', () => {
  const config = readConfig({
    PACELINE_PORT: '',
    PACELINE_HOST: ' ',
    PACELINE_ADMIN_TOKEN: undefined,
    PACELINE_LOG_LEVEL: ' debug\n',
  })
  assert.deepEqual([config.port, config.host, config.adminToken, config.logLevel], [8080, '127.0.0.1', undefined, 'debug'])
  assert.deepEqual(config.given, ['PACELINE_LOG_LEVEL'])
})

const BAD: Record<string, readonly string[]> = {
  PACELINE_HOST: ['http://x', 'a b', 'x:80'],
  PACELINE_PORT: ['eighty', '-1', '65536', '80.5', '0x50', '1e3'],
  PACELINE_PUBLIC_URL: [
    'example.org',
    'ftp://example.org',
    'https://example.org/base',
    'https://example.org?x=1',
    'https://u:p@x.org',
    'http:x',
  ],
  PACELINE_POSTGRES_URL: ['mysql://x', 'localhost:5432', 'postgres', 'http://postgres://x'],
  PACELINE_REDIS_URL: ['http://x', 'redis', 'redis:6379'],
  PACELINE_NATS_URL: ['http://x', 'nats:4222'],
  PACELINE_SECRET_KEY: [
    'short',
    Buffer.alloc(31).toString('base64'),
    Buffer.alloc(33).toString('base64'),
    `${key()},x`,
    `${key()},`,
  ],
  PACELINE_ADMIN_TOKEN: ['fifteen-letters', 'sixteen letters and spaces', 'sechzehn-zeichen-ä'],
  PACELINE_INGEST_TOKEN: ['short'],
  PACELINE_LOG_LEVEL: ['loud', 'INFO'],
  PACELINE_CLOCK_ANCHOR: ['yesterday', '2026-01-31', '2026-01-31T12:00:00', '2026-02-30T12:00:00Z', '1700000000000'],
  OTEL_EXPORTER_OTLP_ENDPOINT: ['localhost:4318', 'grpc://x'],
  STRAVA_READ_LIMIT: ['100', '100,0', '100,1000,5', 'a,b', '1.5,2', '-1,2'],
  STRAVA_BASE_URL: ['x', 'https://x/?a=1'],
  STRAVA_RETENTION_DAYS: ['0', '1.5', 'ever'],
  PACELINE_QUOTA_BUFFER: ['1', '5%', '-0.1', '.', 'NaN', '0.91'],
  PACELINE_BACKFILL_ORDER: ['random'],
  PACELINE_POLL_MINUTES: ['0'],
  PACELINE_STREAM_CONCURRENCY: ['0', '65'],
  PACELINE_SLEEP_PRIORITY: ['oura,oura', 'fitbit', 'oura,,whoop', ','],
  STREMIO_TRUST_PROXY: ['anyone', '10.0.0.0/99', 'true'],
  PACELINE_DEAD_LETTER_DAYS: ['0', '366', '1.5'],
  NORMALIZE_SLEEP_DURABLE: ['a.b', 'a b', '*', '>'],
}

test('a wrong value is refused with a sentence that names the variable and what it must be', () => {
  for (const [name, values] of Object.entries(BAD)) {
    for (const value of values) refused({ [name]: value }, new RegExp(`^${name} (is ".*"|has a wrong form); it must be .+\\.$`))
  }
})

test('right values of every kind are taken', () => {
  const keys = [key(), randomBytes(32).toString('base64url')]
  const config = readConfig({
    PACELINE_HOST: '::',
    PACELINE_PORT: '0',
    PACELINE_PUBLIC_URL: 'https://Pace.example.org/',
    PACELINE_POSTGRES_URL: 'postgresql:///paceline?host=/run/postgresql',
    PACELINE_REDIS_URL: 'rediss://:p%40ss@cache:6380/2',
    PACELINE_NATS_URL: 'tls://bus:4222',
    PACELINE_SECRET_KEY: keys.join(', '),
    PACELINE_CLOCK_ANCHOR: '2026-01-31T13:00:00+01:00',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/',
    STRAVA_BASE_URL: 'http://127.0.0.1:9/strava//',
    STRAVA_OVERALL_LIMIT: '400, 4000',
    PACELINE_QUOTA_BUFFER: '.25',
    PACELINE_SLEEP_PRIORITY: 'whoop,oura',
    PACELINE_NOTIFY_URL: 'https://x.org/hook/?a=1',
    STREMIO_TRUST_PROXY: 'loopback, 10.0.0.0/8, fd00::/8, 192.0.2.1',
  })
  assert.deepEqual([config.host, config.port, config.publicUrl], ['::', 0, 'https://pace.example.org'])
  assert.equal(config.postgresUrl, 'postgresql:///paceline?host=/run/postgresql')
  assert.equal(config.redisUrl, 'rediss://:p%40ss@cache:6380/2')
  assert.deepEqual(
    config.secretKeys?.map(bytes => Buffer.from(bytes)),
    keys.map(text => Buffer.from(text, 'base64')),
  )
  assert.equal(config.clockAnchor, Date.UTC(2026, 0, 31, 12))
  assert.equal(config.otlpEndpoint, 'http://collector:4318')
  assert.equal(config.vendors.strava.baseUrl, 'http://127.0.0.1:9/strava')
  assert.deepEqual(config.vendors.strava.overallLimit, { short: 400, day: 4000 })
  assert.equal(config.quota.buffer, 0.25)
  assert.deepEqual(config.sleep.priority, ['whoop', 'oura'])
  assert.equal(config.notify.url, 'https://x.org/hook/?a=1')
  assert.deepEqual(config.stremio.trustProxy, ['loopback', '10.0.0.0/8', 'fd00::/8', '192.0.2.1'])
})

test('the public address follows the port', () => {
  assert.equal(readConfig({ PACELINE_PORT: '9000' }).publicUrl, 'http://127.0.0.1:9000')
})

test('variables that need one another are refused alone', () => {
  refused({ WHOOP_CLIENT_ID: 'x' }, /^WHOOP_CLIENT_ID is given without WHOOP_CLIENT_SECRET/)
  refused({ WHOOP_CLIENT_SECRET: 'x' }, /^WHOOP_CLIENT_SECRET is given without WHOOP_CLIENT_ID/)
  refused({ PACELINE_REDIS_URL: 'https://x.upstash.io' }, /PACELINE_REDIS_TOKEN/)
  refused({ PACELINE_REDIS_URL: 'HTTPS://x.upstash.io' }, /PACELINE_REDIS_TOKEN/)
  assert.equal(readConfig({ PACELINE_REDIS_URL: 'https://x.upstash.io', PACELINE_REDIS_TOKEN: 't' }).redisToken, 't')
  const same = 'the-same-token-twice'
  refused({ PACELINE_ADMIN_TOKEN: same, PACELINE_INGEST_TOKEN: same }, /must differ/)
})

test('a webhook secret is what was given; what holds without one, the vendor says', () => {
  assert.equal(readConfig(CLIENT).vendors.oura.webhookSecret, undefined)
  assert.equal(readConfig({ ...CLIENT, OURA_WEBHOOK_SECRET: 'own' }).vendors.oura.webhookSecret, 'own')
})

test('the configuration cannot be changed, at any depth', () => {
  const config = readConfig({ PACELINE_SECRET_KEY: key() })
  for (const part of [
    config,
    config.quota,
    config.vendors,
    config.vendors.strava.readLimit,
    config.sleep.priority,
    config.secretKeys,
  ]) {
    assert(Object.isFrozen(part))
  }
})

test('the .env of the folder is read, and the environment wins over it, also with an empty value', context => {
  const folder = mkdtempSync(join(tmpdir(), 'paceline-config-'))
  context.after(() => rmSync(folder, { recursive: true }))
  assert.equal(loadConfig(folder, {}).port, 8080, 'no file is no problem')
  const lines = ['\uFEFFPACELINE_HOST=localhost', '# a comment', 'export PACELINE_PORT="9001"', 'PACELINE_LOG_LEVEL=warn', '']
  writeFileSync(join(folder, '.env'), lines.join('\n'))
  const config = loadConfig(folder, { PACELINE_LOG_LEVEL: 'debug', PACELINE_PORT: '' })
  assert.deepEqual([config.host, config.port, config.logLevel], ['localhost', 8080, 'debug'])
  writeFileSync(join(folder, '.env'), 'PACELINE_PROT=1\n')
  assert.throws(() => loadConfig(folder, {}), { code: 'PACE_CONFIG', message: /PACELINE_PROT.*PACELINE_PORT/ })
})

test('a .env that cannot be read is told', context => {
  const folder = mkdtempSync(join(tmpdir(), 'paceline-config-'))
  context.after(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, '.env'))
  assert.throws(() => loadConfig(folder, {}), { code: 'PACE_CONFIG', message: /\.env/ })
})

const names = configurationReference.map(entry => entry.name)
const anyName = fc.oneof(
  fc.constantFrom(...names, '__proto__', 'constructor', 'PACELINE_', 'PACELINE_TEST_X'),
  fc.string().map(end => `PACELINE_${end}`),
  fc.string(),
)
const anyValue = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.constantFrom('', ' ', undefined, ...Object.values(BAD).flat()),
  fc.webUrl(),
  fc.nat().map(String),
)

test('no environment makes it throw anything but PACE_CONFIG', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(anyName, anyValue), { maxLength: 12 }), pairs => {
      problemsOf(Object.fromEntries(pairs))
    }),
    { numRuns: runs(300, 1_000) },
  )
})

const SECRET = names.filter(name => /SECRET|TOKEN|_URL$/.test(name))

test('the value of a secret, or of a name that is not ours, never appears in a sentence', () => {
  const marked = fc.string({ maxLength: 20 }).map(noise => `hush7391${noise}`)
  const unknown = fc.stringMatching(/^[A-Z]{1,12}$/).map(end => `PACELINE_X_${end}`)
  fc.assert(
    fc.property(fc.dictionary(fc.oneof(fc.constantFrom(...SECRET), unknown), marked, { minKeys: 1 }), environment => {
      assert.doesNotMatch(problemsOf({ ...environment, PACELINE_PORT: 'x' }).join(), /hush7391/)
    }),
  )
})
