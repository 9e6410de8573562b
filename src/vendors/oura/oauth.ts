// Oura's OAuth: blanks between scopes, PKCE accepted, no documented way to revoke. An access token is said to live 30 days and
// was seen to live one; the grant says which. Each refresh gives a new refresh token and, as far as is known, ends the old one.
import { z } from 'zod'
import { isInvalidGrant, makePkce, pkceFields, readCallback, tokenRequest, type OAuth } from '../oauth.ts'
import { id, readsJson } from '../shapes.ts'
import { requestOf, type Site } from '../site.ts'
import { ONE_REQUEST } from './endpoints.ts'

/** `user_id` of the webhooks is this id. */
const personalInfo = z.object({ id }).transform(found => found.id)

export const oauthOf = (site: Site): OAuth => ({
  authoriseUrl: ({ redirectUri, state, scopes, pkce }) =>
    site.url('authorise', '/oauth/authorize', {
      response_type: 'code',
      client_id: site.credentials.clientId,
      redirect_uri: redirectUri,
      scope: scopes.join(site.facts.scopes.separator),
      state,
      ...pkceFields(pkce),
    }),
  pkce: makePkce,
  callback: readCallback,
  exchange: ({ code, redirectUri, codeVerifier }) =>
    tokenRequest(site, '/oauth/token', {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      code_verifier: codeVerifier,
    }),
  refresh: refreshToken => tokenRequest(site, '/oauth/token', { grant_type: 'refresh_token', refresh_token: refreshToken }),
  isDeadRefresh: isInvalidGrant,
  revoke: () => undefined,
  identity: () =>
    requestOf(site, {
      endpoint: 'personal-info',
      url: site.url('api', '/v2/usercollection/personal_info'),
      cost: ONE_REQUEST,
      read: readsJson(personalInfo),
    }),
  permissions: () => undefined,
})
