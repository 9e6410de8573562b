// An application and its athlete at the vendors' doors: opens the consent page as a browser would, decides, exchanges the code and holds
// the tokens. For tests, checks and demonstrations; the simulator itself does not need it.
import { createHash } from 'node:crypto'
import type { Send } from './courier.ts'
import type { VendorName } from './router.ts'

export interface Visitor {
  readonly fetch: Send
  /** Where the simulator answers, without a slash at the end. */
  readonly base: string
  readonly client?: { readonly id: string; readonly secret: string }
}

export interface Wish {
  readonly scopes?: string
  /** Scopes to tick; what the page has ticked when absent. */
  readonly tick?: readonly string[]
  readonly deny?: boolean
  readonly athlete?: string
  readonly state?: string
}

interface Manner {
  readonly authorise: string
  readonly token: string
  readonly scopes: string
}

const MANNERS: Readonly<Record<VendorName, Manner>> = {
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

export interface Session {
  readonly vendor: VendorName
  accessToken: string
  refreshToken: string
  /** The token endpoint's last answer. */
  tokens: Readonly<Record<string, unknown>>
  readonly callback: URL
  request(method: string, path: string, body?: unknown): Promise<Response>
  refresh(refreshToken?: string): Promise<Response>
}

/** Through the consent page, back to the application's callback address. */
export async function consent(visitor: Visitor, vendor: VendorName, wish: Wish = {}): Promise<URL> {
  const page = new URL(`${visitor.base}/${vendor}${MANNERS[vendor].authorise}`)
  const query = {
    client_id: clientOf(visitor).id,
    redirect_uri: CALLBACK,
    response_type: 'code',
    scope: wish.scopes ?? MANNERS[vendor].scopes,
    state: wish.state ?? 'a-state-of-its-own',
    ...(wish.athlete === undefined ? {} : { athlete: wish.athlete }),
    ...(vendor === 'garmin'
      ? { code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'), code_challenge_method: 'S256' }
      : {}),
  }
  for (const [name, value] of Object.entries(query)) if (value !== '') page.searchParams.set(name, value)
  const shown = await visitor.fetch(new Request(page))
  const { action, ticked } = formIn(await shown.text())
  const form = new URLSearchParams({ decision: wish.deny === true ? 'deny' : 'approve' })
  for (const scope of wish.tick ?? ticked) form.append('scope', scope)
  const decided = await visitor.fetch(new Request(new URL(action, page), { method: 'POST', body: form, redirect: 'manual' }))
  return new URL(decided.headers.get('location') ?? 'about:blank')
}

const clientOf = ({ client }: Visitor): { id: string; secret: string } => client ?? APPLICATION

const unescaped = (text: string): string =>
  text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')

/** What a browser sees of the page's form. */
export function formIn(page: string): { action: string; boxes: string[]; ticked: string[] } {
  const action = /<form method="post" action="([^"]*)">/.exec(page)?.[1] ?? ''
  const boxes = [...page.matchAll(/<input type="checkbox" name="scope" value="([^"]*)"( checked)?>/g)]
  const valueOf = (box: RegExpExecArray): string => unescaped(box[1] ?? '')
  return { action: unescaped(action), boxes: boxes.map(valueOf), ticked: boxes.filter(box => box[2] !== undefined).map(valueOf) }
}

export async function exchange(
  visitor: Visitor,
  vendor: VendorName,
  fields: Readonly<Record<string, string>>,
): Promise<Response> {
  const { id, secret } = clientOf(visitor)
  const form = new URLSearchParams({ client_id: id, client_secret: secret, ...fields })
  return await visitor.fetch(new Request(`${visitor.base}/${vendor}${MANNERS[vendor].token}`, { method: 'POST', body: form }))
}

export const redeem = async (visitor: Visitor, vendor: VendorName, code: string): Promise<Response> =>
  await exchange(visitor, vendor, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: CALLBACK,
    ...(vendor === 'garmin' ? { code_verifier: VERIFIER } : {}),
  })

/** Says yes and comes back with tokens. */
export async function connect(visitor: Visitor, vendor: VendorName, wish: Wish = {}): Promise<Session> {
  const callback = await consent(visitor, vendor, wish)
  const session: Session = {
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
      return await visitor.fetch(new Request(`${visitor.base}/${vendor}${path}`, { method, headers, ...content }))
    },
    refresh: async (refreshToken = session.refreshToken) => {
      const answer = await exchange(visitor, vendor, { grant_type: 'refresh_token', refresh_token: refreshToken })
      if (answer.ok) keep(session, (await answer.clone().json()) as Record<string, unknown>)
      return answer
    },
  }
  const answer = await redeem(visitor, vendor, callback.searchParams.get('code') ?? '')
  keep(session, (await answer.json()) as Record<string, unknown>)
  return session
}

function keep(session: Session, tokens: Readonly<Record<string, unknown>>): void {
  session.tokens = tokens
  session.accessToken = String(tokens['access_token'])
  session.refreshToken = typeof tokens['refresh_token'] === 'string' ? tokens['refresh_token'] : ''
}
