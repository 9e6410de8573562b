// WHOOP, API v2, from its documentation as of autumn 2026.
import { frozen, type Facts } from '../facts.ts'

const HOST = 'https://api.prod.whoop.com'

export const facts: Facts = frozen({
  name: 'whoop',
  title: 'WHOOP',
  hosts: { authorise: HOST, token: HOST, api: HOST },
  auth: {
    pkce: 'none',
    refresh: 'rotates',
    accessLifeSeconds: 3600,
    refreshLifeSeconds: undefined,
    quirk:
      'The old refresh token dies at once, so two refreshes side by side lock the athlete out. Without `offline` there is none.',
  },
  scopes: {
    separator: ' ',
    default: ['offline', 'read:sleep', 'read:profile'],
    write: [],
    implied: {},
    grantedBy: 'grant',
  },
  delivers: ['sleep'],
  pools: [
    {
      name: 'app',
      scope: 'app',
      unit: 'requests',
      windows: [
        { name: 'minute', seconds: 60, limit: 100, alignment: 'unknown' },
        { name: 'day', seconds: 86_400, limit: 10_000, alignment: 'unknown' },
      ],
    },
  ],
  overLimit: { status: 429, resetFrom: 'X-RateLimit-Reset in seconds from now', countsWhenRefused: false },
  whenSpent: 'resume',
  retention: 'None published.',
  webhook: {
    answerWithinMs: 1000,
    retries: '5 over about an hour; duplicates share a trace id; events can be lost',
    proof: 'base64 HMAC-SHA256 of timestamp (milliseconds) and body, keyed with the client secret',
    bodyLimitBytes: 256 * 1024,
  },
})
