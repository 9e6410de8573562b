// Garmin's OAuth 2 with PKCE. There are no scopes: a further call asks which permissions the athlete ticked. A refresh token
// dies when it is not used for 90 days.
import { z } from 'zod'
import { isInvalidGrant, makePkce, pkceFields, readCallback, tokenRequest, type OAuth } from '../oauth.ts'
import { id, readsJson, readsNothing, words } from '../shapes.ts'
import { requestOf, type Site } from '../site.ts'

const TOKEN_PATH = '/di-oauth2-service/oauth/token'
const ONE_REQUEST = [{ pool: 'requests', units: 1 }]

const userId = z.object({ userId: id }).transform(({ userId }) => userId)

/** Seen as a bare list and inside an object. */
const permissions = z.union([words, z.object({ permissions: words }).transform(found => found.permissions)])

export function oauthOf(site: Site): OAuth {
  const user = (path: string): string => site.url('api', `/wellness-api/rest/user/${path}`)
  return {
    authoriseUrl: ({ redirectUri, state, pkce }) =>
      site.url('authorise', '/oauth2Confirm', {
        response_type: 'code',
        client_id: site.credentials.clientId,
        ...pkceFields(pkce),
        redirect_uri: redirectUri,
        state,
      }),
    pkce: makePkce,
    callback: readCallback,
    exchange: ({ code, redirectUri, codeVerifier }) =>
      tokenRequest(site, TOKEN_PATH, {
        grant_type: 'authorization_code',
        code,
        code_verifier: codeVerifier,
        redirect_uri: redirectUri,
      }),
    refresh: refreshToken => tokenRequest(site, TOKEN_PATH, { grant_type: 'refresh_token', refresh_token: refreshToken }),
    isDeadRefresh: isInvalidGrant,
    revoke: () =>
      requestOf(site, {
        endpoint: 'revoke',
        method: 'DELETE',
        url: user('registration'),
        idempotent: true,
        read: readsNothing,
      }),
    identity: () => requestOf(site, { endpoint: 'user-id', url: user('id'), cost: ONE_REQUEST, read: readsJson(userId) }),
    permissions: () =>
      requestOf(site, { endpoint: 'permissions', url: user('permissions'), cost: ONE_REQUEST, read: readsJson(permissions) }),
  }
}
