// Strava's OAuth: commas between scopes, no PKCE, and a callback that says which scopes the athlete left ticked. A refresh with
// more than an hour left gives the same access token back; only the newest refresh token is valid.
import { readCallback, tokenRequest, type OAuth } from '../oauth.ts'
import { readsNothing } from '../shapes.ts'
import { requestOf, type Site } from '../site.ts'
import type { Credentials } from '../vendor.ts'

export const oauthOf = (site: Site): OAuth => ({
  authoriseUrl: ({ redirectUri, state, scopes }) =>
    site.url('authorise', '/oauth/authorize', {
      client_id: site.credentials.clientId,
      redirect_uri: redirectUri,
      response_type: 'code',
      // `auto` skips the page when something was granted before, and an unticked scope could never be ticked again.
      approval_prompt: 'force',
      scope: scopes.join(site.facts.scopes.separator),
      state,
    }),
  pkce: () => undefined,
  callback: readCallback,
  exchange: ({ code }) => tokenRequest(site, '/oauth/token', { code, grant_type: 'authorization_code' }),
  refresh: refreshToken => tokenRequest(site, '/oauth/token', { refresh_token: refreshToken, grant_type: 'refresh_token' }),
  // `RefreshToken/refresh_token/invalid`, in whatever case; `Application/client_id/invalid` is not that.
  isDeadRefresh: verdict => verdict.outcome === 'rejected' && /\brefresh_?token\/[^/]*\/invalid/i.test(verdict.reason),
  revoke: ({ accessToken, refreshToken }) =>
    requestOf(site, {
      endpoint: 'revoke',
      method: 'POST',
      url: site.url('token', '/oauth/revoke'),
      headers: { authorization: basic(site.credentials) },
      form: {
        token: refreshToken ?? accessToken,
        token_type_hint: refreshToken === undefined ? 'access_token' : 'refresh_token',
      },
      authorised: false,
      idempotent: true,
      read: readsNothing,
    }),
  identity: () => undefined,
  permissions: () => undefined,
})

const basic = ({ clientId, clientSecret }: Credentials): string =>
  `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`
