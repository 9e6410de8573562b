// Strava, API v3, from its public documentation (rate limits, authentication, webhooks) as of autumn 2026.
import { frozen, type Facts, type Window } from '../facts.ts'

const windows = (quarter: number, day: number): Window[] => [
  { name: '15min', seconds: 900, limit: quarter, alignment: 'clock-quarter' },
  { name: 'day', seconds: 86_400, limit: day, alignment: 'midnight-utc' },
]

export const facts: Facts = frozen({
  name: 'strava',
  title: 'Strava',
  hosts: { authorise: 'https://www.strava.com', token: 'https://www.strava.com', api: 'https://www.strava.com' },
  auth: {
    pkce: 'none',
    refresh: 'may-rotate',
    accessLifeSeconds: 6 * 3600,
    refreshLifeSeconds: undefined,
    quirk: 'A refresh with more than an hour left gives the same access token back; only the newest refresh token is valid.',
  },
  scopes: {
    separator: ',',
    default: ['read', 'activity:read_all'],
    write: ['activity:write'],
    implied: { read_all: ['read'], 'activity:read_all': ['activity:read'], 'profile:read_all': ['read'] },
    grantedBy: 'callback',
  },
  delivers: ['activities', 'streams', 'photos'],
  // "Read" is everything but uploads, so a PUT takes from both.
  pools: [
    { name: 'read', scope: 'app', unit: 'requests', windows: windows(100, 1000) },
    { name: 'overall', scope: 'app', unit: 'requests', windows: windows(200, 2000) },
  ],
  overLimit: { status: 429, resetFrom: 'the clock: no header says it', countsWhenRefused: true },
  whenSpent: 'resume',
  retention:
    'The API policy of June 2026 reportedly allows 7 days of caching and asks for deletion within 30 days of deauthorisation.',
  webhook: {
    answerWithinMs: 2000,
    retries: '3 attempts in total; no replay, no order, duplicates happen',
    proof: 'verify token at the handshake, subscription id in each event, a signature only where a secret is configured',
    bodyLimitBytes: 256 * 1024,
  },
})
