// `npm run check:vendors`: asks the simulator for a good answer of every route and checks it against the vendors' published
// specifications in ../shared/vendor (or in the folder given). Without that folder nothing is checked. A route that cannot be
// checked says why. A difference must be in the list of known ones, with its reason; any other ends the check with exit code 1,
// and so does a known one that is no longer there.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { VirtualClock } from '../src/kernel/clock.ts'
import { openSimulator, type RouteDescription, type VendorName } from '../src/simulator/simulator.ts'
import { connect, type OAuthSession } from '../src/simulator/oauth-client.ts'
import { ASKS, echo, subscriptionAnswers, type Shown } from './vendor-asks.ts'
import { readSpec, type Mismatch, type VendorSpec } from './vendor-spec.ts'

const FILES: Readonly<Partial<Record<VendorName, string>>> = {
  strava: 'strava-swagger-bundled.json',
  oura: 'oura-openapi.json',
  whoop: 'whoop-openapi.json',
  foursquare: 'foursquare-v2-openapi.json',
}

/** The path of a route in the specification. */
const SPEC_PATH: Readonly<Record<VendorName, (template: string) => string>> = {
  strava: template => template.replace('/api/v3', ''),
  oura: template => template,
  whoop: template => template.replace('/developer', ''),
  foursquare: template => template.replace('/v2/users/self', '/users/{USER_ID}'),
  garmin: template => template,
}

interface Unchecked {
  readonly vendor?: VendorName
  readonly route: RegExp
  readonly because: string
  /** At least the route must be in the specification. */
  readonly isNamed?: true
}

const UNCHECKED: readonly Unchecked[] = [
  { vendor: 'garmin', route: /./, because: 'Garmin publishes no specification' },
  { route: / \/oauth/, because: 'no specification describes the OAuth pages and token answers' },
  {
    vendor: 'strava',
    route: /\/api\/v3\/oauth\/token$/,
    because: 'no specification describes the OAuth pages and token answers',
  },
  { vendor: 'strava', route: /push_subscriptions/, because: 'documented in prose only' },
  { vendor: 'strava', route: /\/photos(?:$|\/)/, because: 'undocumented; the shape is that of recorded answers' },
  {
    vendor: 'foursquare',
    route: /users\/self/,
    because: 'the specification names the route and gives its answer no schema',
    isNamed: true,
  },
  { route: /^DELETE /, because: 'answers 204 without a body' },
]

interface Deviation {
  readonly vendor: VendorName
  readonly at: RegExp
  readonly keyword: string
  readonly because: string
}

const KNOWN: readonly Deviation[] = [
  {
    vendor: 'strava',
    at: /\/(?:start|end)_latlng$/,
    keyword: 'minItems',
    because: 'recorded answers write [] where there is no position',
  },
  {
    vendor: 'strava',
    at: /\/(?:upload_id|external_id)$/,
    keyword: 'type',
    because: 'null for a manual activity in recorded answers',
  },
  { vendor: 'strava', at: /\/gear_id$/, keyword: 'type', because: 'null without gear in recorded answers' },
  { vendor: 'strava', at: /\/description$/, keyword: 'type', because: 'null when empty in recorded answers' },
  { vendor: 'strava', at: /\/photos\/primary$/, keyword: 'type', because: 'null without photos in recorded answers' },
]

const NOW = Date.UTC(2026, 9, 1, 12)

interface Findings {
  readonly lines: string[]
  readonly complaints: string[]
  readonly used: Map<Deviation, number>
}

async function checkRoute(
  route: RouteDescription,
  spec: VendorSpec | undefined,
  shown: readonly Shown[],
  findings: Findings,
): Promise<void> {
  const name = `${route.vendor} ${route.method} ${route.template}`
  const specPath = SPEC_PATH[route.vendor](route.template)
  let checked = 0
  const wrong = new Map<string, number>()
  for (const { path, answer } of shown) {
    // An activity without samples has no streams: a refusal, and so nothing to check.
    if (answer.status === 404 && route.template.endsWith('/streams')) continue
    if (!answer.ok) findings.complaints.push(`${name}: ${path} answered ${answer.status}`)
    const mismatches = spec?.check(route.method, specPath, answer.status, await answer.json())
    if (mismatches === undefined) findings.complaints.push(`${name}: the specification has no schema for ${answer.status}`)
    else checked += 1
    for (const mismatch of mismatches ?? []) note(route.vendor, mismatch, wrong, findings)
  }
  findings.complaints.push(...[...wrong].map(([says, count]) => `${name}: ${says} (${count} times)`))
  findings.lines.push(`${wrong.size === 0 ? 'fits ' : 'WRONG'} ${name}: ${checked} answers`)
}

function note(vendor: VendorName, mismatch: Mismatch, wrong: Map<string, number>, { used }: Findings): void {
  const known = KNOWN.find(one => one.vendor === vendor && one.keyword === mismatch.keyword && one.at.test(mismatch.at))
  if (known !== undefined) used.set(known, (used.get(known) ?? 0) + 1)
  else wrong.set(`${mismatch.at} ${mismatch.says}`, (wrong.get(`${mismatch.at} ${mismatch.says}`) ?? 0) + 1)
}

async function check(folder: string): Promise<Findings> {
  const findings: Findings = { lines: [], complaints: [], used: new Map() }
  const limits = { read: [99_999, 99_999], overall: [99_999, 99_999], whoop: [99_999, 99_999] } as const
  const simulator = openSimulator({ clock: new VirtualClock(NOW), activities: 150, nights: 60, limits, send: echo })
  const subscriptions = await subscriptionAnswers(simulator)
  const specs = new Map(Object.entries(FILES).map(([vendor, file]) => [vendor as VendorName, readSpec(resolve(folder, file))]))
  const sessions = new Map<VendorName, OAuthSession>()
  for (const vendor of specs.keys())
    sessions.set(vendor, await connect({ fetch: simulator.fetch, base: 'http://simulator' }, vendor))
  for (const route of simulator.routes) {
    const name = `${route.vendor} ${route.method} ${route.template}`
    const reason = UNCHECKED.find(
      one => (one.vendor ?? route.vendor) === route.vendor && one.route.test(`${route.method} ${route.template}`),
    )
    const session = sessions.get(route.vendor)
    const shown = subscriptions.get(name) ?? (session === undefined ? undefined : await ASKS[name]?.(session))
    if (shown !== undefined) await checkRoute(route, specs.get(route.vendor), shown, findings)
    else if (
      reason?.isNamed === true &&
      specs.get(route.vendor)?.hasRoute(route.method, SPEC_PATH[route.vendor](route.template)) !== true
    )
      findings.complaints.push(`${name} is not in the specification`)
    else if (reason === undefined) findings.complaints.push(`${name} is neither checked nor listed as unchecked`)
    else findings.lines.push(`-     ${name}: ${reason.because}`)
  }
  for (const one of KNOWN)
    if (!findings.used.has(one)) findings.complaints.push(`no answer differs any more at ${one.at.source}: ${one.because}`)
  return findings
}

/** By default they need not be there: not everybody has them. */
const DEFAULT_FOLDER = '../shared/vendor'
const root = fileURLToPath(new URL('..', import.meta.url))
const [, , given] = process.argv
const folder = resolve(root, given ?? DEFAULT_FOLDER)
const missing = Object.values(FILES).filter(file => !existsSync(resolve(folder, file)))
if (given === undefined && !existsSync(folder)) {
  console.log(`The vendors’ specifications are not here (${DEFAULT_FOLDER}): nothing was checked.`)
} else if (missing.length > 0) {
  console.error(`Nothing was checked: ${folder} has no ${missing.join(', ')}.`)
  process.exitCode = 1
} else {
  const { lines, complaints, used } = await check(folder)
  for (const line of lines) console.log(line)
  console.log('\nKnown differences, where real answers are not what is written:')
  for (const [{ vendor, at, because }, count] of used) console.log(`  ${vendor} ${at.source} (${count} times): ${because}`)
  for (const complaint of complaints) console.error(`\n${complaint}`)
  console.log(complaints.length === 0 ? '\nEvery answer fits.' : `\n${complaints.length} complaints.`)
  process.exitCode = complaints.length === 0 ? 0 : 1
}
