// Foursquare's OAuth: no scopes, no refresh token, an access token that never expires. The token can be asked for by GET.
import { json, type Answer } from '../answer.ts'
import { consentRoutes } from '../consent-page.ts'
import type { SimulatorContext } from '../context.ts'
import { Grants } from '../grants.ts'
import { textOf, type Call, type Route } from '../router.ts'

export const foursquareGrants = ({ clock, random }: SimulatorContext): Grants =>
  new Grants(clock, random, { accessMs: Infinity, refreshMs: Infinity, keepsOldAccess: true })

export function oauthRoutes(context: SimulatorContext, grants: Grants): Route[] {
  const dialect = {
    vendor: 'foursquare',
    label: 'Foursquare',
    templates: ['/oauth2/authenticate'],
    scopesAsked: () => [],
  } as const
  const token = {
    vendor: 'foursquare',
    template: '/oauth2/access_token',
    access: 'open',
    handle: (call: Call) => exchange(context, grants, call),
  } as const
  return [...consentRoutes(dialect, context.world, grants), { ...token, method: 'GET' }, { ...token, method: 'POST' }]
}

function exchange(context: SimulatorContext, grants: Grants, call: Call): Answer {
  const field = (name: string): string => call.query.get(name) ?? textOf(call.fields, name)
  const client = { id: field('client_id'), secret: field('client_secret') }
  if (context.clients.check('foursquare', client) !== 'known') return json(401, { error: 'invalid_client' })
  if (field('grant_type') !== 'authorization_code') return json(400, { error: 'unsupported_grant_type' })
  const consent = grants.redeem(field('code'))
  if (consent === undefined || consent.client !== client.id) return json(400, { error: 'invalid_grant' })
  if (consent.redirectUri !== field('redirect_uri')) return json(400, { error: 'redirect_uri_mismatch' })
  return json(200, { access_token: grants.open(consent).accessToken })
}
