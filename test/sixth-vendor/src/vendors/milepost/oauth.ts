// Milepost's OAuth: the usual token call; the token does not say whose it is. There is no call to revoke.
import { isInvalidGrant, readCallback, tokenRequest, type OAuth } from '../oauth.ts'
import { readsJson } from '../shapes.ts'
import { requestOf, type Site } from '../site.ts'
import { ONE_REQUEST } from './endpoints.ts'
import { self } from './wire.ts'

const TOKEN_PATH = '/oauth/token'

export const oauthOf = (site: Site): OAuth => ({
  authoriseUrl: ({ redirectUri, state, scopes }) =>
    site.url('authorise', '/oauth/authorize', {
      response_type: 'code',
      client_id: site.credentials.clientId,
      redirect_uri: redirectUri,
      scope: scopes.join(site.facts.scopes.separator),
      state,
    }),
  pkce: () => undefined,
  callback: readCallback,
  exchange: ({ code, redirectUri }) =>
    tokenRequest(site, TOKEN_PATH, { grant_type: 'authorization_code', code, redirect_uri: redirectUri }),
  refresh: refreshToken => tokenRequest(site, TOKEN_PATH, { grant_type: 'refresh_token', refresh_token: refreshToken }),
  isDeadRefresh: isInvalidGrant,
  revoke: () => undefined,
  identity: () =>
    requestOf(site, { endpoint: 'self', url: site.url('api', '/v1/self'), cost: ONE_REQUEST, read: readsJson(self) }),
  permissions: () => undefined,
})
