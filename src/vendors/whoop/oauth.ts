// WHOOP's OAuth: blanks between scopes. Without the scope `offline` there is no refresh token. A refresh ends the old refresh
// token at once, so two refreshes at the same time lock the athlete out.
import { z } from 'zod'
import { isInvalidGrant, readCallback, tokenRequest, type OAuth } from '../oauth.ts'
import { id, readsJson, readsNothing } from '../shapes.ts'
import { requestOf, type Site } from '../site.ts'
import { ONE_REQUEST } from './endpoints.ts'

const TOKEN_PATH = '/oauth/oauth2/token'
const profile = z.object({ user_id: id }).transform(({ user_id }) => user_id)

export const oauthOf = (site: Site): OAuth => ({
  authoriseUrl: ({ redirectUri, state, scopes }) =>
    site.url('authorise', '/oauth/oauth2/auth', {
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
  refresh: refreshToken =>
    tokenRequest(site, TOKEN_PATH, { grant_type: 'refresh_token', refresh_token: refreshToken, scope: 'offline' }),
  isDeadRefresh: isInvalidGrant,
  revoke: () =>
    requestOf(site, {
      endpoint: 'revoke',
      method: 'DELETE',
      url: site.url('api', '/developer/v2/user/access'),
      idempotent: true,
      read: readsNothing,
    }),
  identity: () =>
    requestOf(site, {
      endpoint: 'profile',
      url: site.url('api', '/developer/v2/user/profile/basic'),
      cost: ONE_REQUEST,
      read: readsJson(profile),
    }),
  permissions: () => undefined,
})
