// Foursquare's OAuth: no scopes, no refresh, no revoke. The token is fetched with a GET that has the secret in its URL, and no
// document says that it expires.
import { readCallback, readsGrant, type OAuth } from '../oauth.ts'
import { readsJson } from '../shapes.ts'
import { requestOf, type Site } from '../site.ts'
import { ONE_REQUEST, VERSION } from './endpoints.ts'
import { self } from './wire.ts'

export const oauthOf = (site: Site): OAuth => ({
  authoriseUrl: ({ redirectUri, state }) =>
    site.url('authorise', '/oauth2/authenticate', {
      client_id: site.credentials.clientId,
      response_type: 'code',
      redirect_uri: redirectUri,
      state,
    }),
  pkce: () => undefined,
  callback: readCallback,
  exchange: ({ code, redirectUri }) =>
    requestOf(site, {
      endpoint: 'token',
      url: site.url('token', '/oauth2/access_token', {
        client_id: site.credentials.clientId,
        client_secret: site.credentials.clientSecret,
        grant_type: 'authorization_code',
        redirect_uri: redirectUri,
        code,
      }),
      authorised: false,
      // A code works once, GET or not.
      idempotent: false,
      read: readsGrant,
    }),
  refresh: () => undefined,
  isDeadRefresh: () => false,
  revoke: () => undefined,
  identity: () =>
    requestOf(site, {
      endpoint: 'self',
      url: site.url('api', '/v2/users/self', { v: VERSION }),
      cost: ONE_REQUEST,
      read: readsJson(self),
    }),
  permissions: () => undefined,
})
