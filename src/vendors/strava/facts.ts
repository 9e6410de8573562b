// Strava, API v3, from its public documentation (rate limits, authentication, webhooks) as of autumn 2026. Its API policy of
// June 2026 reportedly allows 7 days of caching and asks for deletion within 30 days of deauthorisation.
import { frozen, type Facts, type Window } from '../facts.ts'

const windows = (quarter: number, day: number): Window[] => [
  { name: '15min', seconds: 900, limit: quarter, alignment: 'clock-quarter' },
  { name: 'day', seconds: 86_400, limit: day, alignment: 'midnight-utc' },
]

export const facts: Facts = frozen({
  name: 'strava',
  title: 'Strava',
  hosts: { authorise: 'https://www.strava.com', token: 'https://www.strava.com', api: 'https://www.strava.com' },
  scopes: {
    separator: ',',
    // Both: who does not tick the private activities still gives the others.
    default: ['read', 'activity:read', 'activity:read_all'],
    write: ['activity:write'],
    implied: { read_all: ['read'], 'activity:read_all': ['activity:read'], 'profile:read_all': ['read'] },
  },
  // "Read" is everything but uploads, so a PUT takes from both. A call that is refused with 429 counts too.
  pools: [
    { name: 'read', scope: 'app', unit: 'requests', windows: windows(100, 1000) },
    { name: 'overall', scope: 'app', unit: 'requests', windows: windows(200, 2000) },
  ],
  whenSpent: 'resume',
  // Strava tries an event 3 times in all. Events come twice and in any order, and a lost one is never sent again.
  webhook: { answerWithinMs: 2000, bodyLimitBytes: 256 * 1024 },
})
