// Oura, API v2, from its specification and FAQ as of autumn 2026.
import { frozen, type Facts, type Window } from '../facts.ts'

// The FAQ's number. Two layers exist and neither's own number is published, so each is counted with it.
const rolling: Window = { name: '5min', seconds: 300, limit: 5000, alignment: 'rolling' }

export const facts: Facts = frozen({
  name: 'oura',
  title: 'Oura',
  hosts: { authorise: 'https://cloud.ouraring.com', token: 'https://api.ouraring.com', api: 'https://api.ouraring.com' },
  auth: {
    pkce: 'accepted',
    refresh: 'rotates',
    // Said to be 30 days, seen as one: the grant says it.
    accessLifeSeconds: undefined,
    refreshLifeSeconds: undefined,
    quirk: 'Each refresh gives a new refresh token; the old one is taken to be dead.',
  },
  scopes: { separator: ' ', default: ['personal', 'daily'], write: [], implied: {}, grantedBy: 'callback' },
  delivers: ['sleep'],
  pools: [
    { name: 'token', scope: 'token', unit: 'requests', windows: [rolling] },
    { name: 'app', scope: 'app', unit: 'requests', windows: [rolling] },
  ],
  overLimit: { status: 429, resetFrom: 'Retry-After, or X-RateLimit-Reset in epoch seconds', countsWhenRefused: false },
  whenSpent: 'resume',
  retention: 'None published.',
  webhook: {
    answerWithinMs: 10_000,
    retries: '10 over about an hour; an answer of 410 cancels the subscription; subscriptions expire',
    proof: 'hex HMAC-SHA256 of timestamp (seconds) and body, keyed with the client secret',
    bodyLimitBytes: 256 * 1024,
  },
})
