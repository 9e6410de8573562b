// The page on which an athlete gives or denies consent: plain HTML with a checkbox for each scope and two buttons. The athlete is
// the newest one, or `?athlete=<id>`. The form posts to its own address (`?…`), so it works under any path.
import { html, json, redirect, type Answer } from './answer.ts'
import type { Grants } from './grants.ts'
import { textOf, type Call, type Route, type VendorName } from './router.ts'
import type { Athlete } from './world/athletes.ts'
import type { World } from './world/world.ts'

interface ConsentScope {
  readonly name: string
  readonly isTicked: boolean
}

interface ConsentDialect {
  readonly vendor: VendorName
  readonly label: string
  readonly templates: readonly string[]
  scopesAsked(query: URLSearchParams): readonly ConsentScope[]
  /** Between the granted scopes in the callback. Without it the callback does not name them. */
  readonly scopeSeparator?: string
  /** Why the page cannot be shown for this request. */
  refusal?(query: URLSearchParams): string | undefined
}

export function consentRoutes(dialect: ConsentDialect, world: World, grants: Grants): Route[] {
  const common = { vendor: dialect.vendor, access: 'open' } as const
  return dialect.templates.flatMap(template => [
    { ...common, method: 'GET', template, handle: call => show(dialect, world, call) },
    { ...common, method: 'POST', template, handle: call => decide(dialect, world, grants, call) },
  ])
}

function problemWith(dialect: ConsentDialect, query: URLSearchParams): string | undefined {
  if ((query.get('client_id') ?? '') === '') return 'client_id is missing'
  if (!URL.canParse(query.get('redirect_uri') ?? '')) return 'redirect_uri is missing or not a URL'
  if (query.get('response_type') !== 'code') return 'response_type must be code'
  return dialect.refusal?.(query)
}

const signedIn = (world: World, query: URLSearchParams): Athlete | undefined => {
  const id = query.get('athlete')
  return id === null ? world.athletes.at(-1) : world.athlete(id)
}

function show(dialect: ConsentDialect, world: World, call: Call): Answer {
  const problem = problemWith(dialect, call.query)
  if (problem !== undefined) return json(400, { message: 'Bad Request', error: problem })
  const athlete = signedIn(world, call.query)
  if (athlete === undefined) return json(404, { message: 'No such athlete' })
  return html(200, pageOf(dialect, call.query, athlete))
}

function decide(dialect: ConsentDialect, world: World, grants: Grants, call: Call): Answer {
  const problem = problemWith(dialect, call.query)
  const athlete = signedIn(world, call.query)
  if (problem !== undefined || athlete === undefined)
    return json(400, { message: 'Bad Request', error: problem ?? 'No such athlete' })
  const back = new URL(call.query.get('redirect_uri') ?? '')
  const state = call.query.get('state')
  if (state !== null) back.searchParams.set('state', state)
  if (textOf(call.fields, 'decision') !== 'approve') {
    back.searchParams.set('error', 'access_denied')
    return redirect(back.href)
  }
  const scopes = tickedIn(dialect, call)
  const challenge = call.query.get('code_challenge')
  const code = grants.code({
    client: call.query.get('client_id') ?? '',
    athlete,
    scopes,
    redirectUri: call.query.get('redirect_uri') ?? '',
    ...(challenge === null ? {} : { challenge, challengeMethod: call.query.get('code_challenge_method') ?? 'plain' }),
  })
  back.searchParams.set('code', code)
  if (dialect.scopeSeparator !== undefined) back.searchParams.set('scope', scopes.join(dialect.scopeSeparator))
  return redirect(back.href)
}

/** The ticked scopes among those that were asked for: an edited page cannot widen the consent. */
function tickedIn(dialect: ConsentDialect, call: Call): string[] {
  const given = call.fields['scope']
  const ticked = Array.isArray(given) ? given : [given]
  return dialect
    .scopesAsked(call.query)
    .map(({ name }) => name)
    .filter(name => ticked.includes(name))
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

function pageOf(dialect: ConsentDialect, query: URLSearchParams, athlete: Athlete): string {
  const boxes = dialect
    .scopesAsked(query)
    .map(({ name, isTicked }) => {
      const value = escaped(name)
      return `<p><label><input type="checkbox" name="scope" value="${value}"${isTicked ? ' checked' : ''}> ${value}</label></p>`
    })
    .join('\n')
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${dialect.label} (simulated)</title><link rel="icon" href="data:,"></head>
<body>
<h1>${dialect.label} (simulated)</h1>
<p>Application <b>${escaped(query.get('client_id') ?? '')}</b> asks ${escaped(`${athlete.firstName} ${athlete.lastName}`)} for access.</p>
<form method="post" action="?${escaped(query.toString())}">
${boxes}
<button type="submit" name="decision" value="approve">Approve</button>
<button type="submit" name="decision" value="deny">Deny</button>
</form>
</body></html>
`
}
