// An OAuth client and its athlete's browser: opens the consent page, decides, exchanges the code and holds the tokens. It is for
// tests and checks; the simulator itself does not use it.
import { createHash } from 'node:crypto'
import type { VendorName } from './router.ts'
import type { Send } from './webhook-sender.ts'

export interface OAuthClient {
  readonly fetch: Send
  /** The simulator's address, without a slash at the end. */
  readonly base: string
  readonly client?: { readonly id: string; readonly secret: string }
}

interface ConsentChoice {
  readonly scopes?: string
  /** Scopes to tick. Absent: those that the page has ticked. */
  readonly tick?: readonly string[]
  readonly deny?: boolean
  readonly athlete?: string
  readonly state?: string
}

interface OAuthProfile {
  readonly authorise: string
  readonly token: string
  readonly scopes: string
}

const OAUTH_PROFILES: Readonly<Record<VendorName, OAuthProfile>> = {
  strava: { authorise: '/oauth/authorize', token: '/oauth/token', scopes: 'read,activity:read_all,activity:write' },
  oura: { authorise: '/oauth/authorize', token: '/oauth/token', scopes: 'email personal daily' },
  whoop: {
    authorise: '/oauth/oauth2/auth',
    token: '/oauth/oauth2/token',
    scopes: 'offline read:sleep read:recovery read:cycles read:profile read:body_measurement',
  },
  garmin: { authorise: '/oauth2Confirm', token: '/di-oauth2-service/oauth/token', scopes: '' },
  foursquare: { authorise: '/oauth2/authenticate', token: '/oauth2/access_token', scopes: '' },
}

const CALLBACK = 'http://127.0.0.1:9/oauth/callback'
const VERIFIER = 'a-verifier-that-is-long-enough-for-anybody-who-counts'
const APPLICATION = { id: '4711', secret: 'not-much-of-a-secret' }

export interface OAuthSession {
  readonly vendor: VendorName
  accessToken: string
  refreshToken: string
  /** The token endpoint's last answer. */
  tokens: Readonly<Record<string, unknown>>
  readonly callback: URL
  request(method: string, path: string, body?: unknown): Promise<Response>
  refresh(refreshToken?: string): Promise<Response>
}

/** Goes through the consent page and returns the callback address to which it redirects. */
export async function consent(oauthClient: OAuthClient, vendor: VendorName, choice: ConsentChoice = {}): Promise<URL> {
  const page = new URL(`${oauthClient.base}/${vendor}${OAUTH_PROFILES[vendor].authorise}`)
  const query = {
    client_id: credentialsOf(oauthClient).id,
    redirect_uri: CALLBACK,
    response_type: 'code',
    scope: choice.scopes ?? OAUTH_PROFILES[vendor].scopes,
    state: choice.state ?? 'a-state-of-its-own',
    ...(choice.athlete === undefined ? {} : { athlete: choice.athlete }),
    ...(vendor === 'garmin'
      ? { code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'), code_challenge_method: 'S256' }
      : {}),
  }
  for (const [name, value] of Object.entries(query)) if (value !== '') page.searchParams.set(name, value)
  const shown = await oauthClient.fetch(new Request(page))
  const { action, ticked } = formIn(await shown.text())
  const form = new URLSearchParams({ decision: choice.deny === true ? 'deny' : 'approve' })
  for (const scope of choice.tick ?? ticked) form.append('scope', scope)
  const decided = await oauthClient.fetch(new Request(new URL(action, page), { method: 'POST', body: form, redirect: 'manual' }))
  return new URL(decided.headers.get('location') ?? 'about:blank')
}

const credentialsOf = ({ client }: OAuthClient): { id: string; secret: string } => client ?? APPLICATION

const unescaped = (text: string): string =>
  text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')

/** The form of the page, as a browser would read it. */
function formIn(page: string): { action: string; boxes: string[]; ticked: string[] } {
  const action = /<form method="post" action="([^"]*)">/.exec(page)?.[1] ?? ''
  const boxes = [...page.matchAll(/<input type="checkbox" name="scope" value="([^"]*)"( checked)?>/g)]
  const valueOf = (box: RegExpExecArray): string => unescaped(box[1] ?? '')
  return { action: unescaped(action), boxes: boxes.map(valueOf), ticked: boxes.filter(box => box[2] !== undefined).map(valueOf) }
}

export async function exchange(
  oauthClient: OAuthClient,
  vendor: VendorName,
  fields: Readonly<Record<string, string>>,
): Promise<Response> {
  const { id, secret } = credentialsOf(oauthClient)
  const form = new URLSearchParams({ client_id: id, client_secret: secret, ...fields })
  return await oauthClient.fetch(
    new Request(`${oauthClient.base}/${vendor}${OAUTH_PROFILES[vendor].token}`, { method: 'POST', body: form }),
  )
}

export const redeem = async (oauthClient: OAuthClient, vendor: VendorName, code: string): Promise<Response> =>
  await exchange(oauthClient, vendor, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: CALLBACK,
    ...(vendor === 'garmin' ? { code_verifier: VERIFIER } : {}),
  })

/** Goes through the consent page and exchanges the code for tokens. */
export async function connect(oauthClient: OAuthClient, vendor: VendorName, choice: ConsentChoice = {}): Promise<OAuthSession> {
  const callback = await consent(oauthClient, vendor, choice)
  const session: OAuthSession = {
    vendor,
    accessToken: '',
    refreshToken: '',
    tokens: {},
    callback,
    request: async (method, path, body) => {
      const headers = {
        authorization: `Bearer ${session.accessToken}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      }
      const content = body === undefined ? {} : { body: JSON.stringify(body) }
      return await oauthClient.fetch(new Request(`${oauthClient.base}/${vendor}${path}`, { method, headers, ...content }))
    },
    refresh: async (refreshToken = session.refreshToken) => {
      const answer = await exchange(oauthClient, vendor, { grant_type: 'refresh_token', refresh_token: refreshToken })
      if (answer.ok) keepTokens(session, (await answer.clone().json()) as Record<string, unknown>)
      return answer
    },
  }
  const answer = await redeem(oauthClient, vendor, callback.searchParams.get('code') ?? '')
  keepTokens(session, (await answer.json()) as Record<string, unknown>)
  return session
}

function keepTokens(session: OAuthSession, tokens: Readonly<Record<string, unknown>>): void {
  session.tokens = tokens
  session.accessToken = String(tokens['access_token'])
  session.refreshToken = typeof tokens['refresh_token'] === 'string' ? tokens['refresh_token'] : ''
}
