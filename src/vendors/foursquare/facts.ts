// Foursquare's v2 API (Swarm check-ins), from its documentation and its 2014 description.
import { frozen, type Facts } from '../facts.ts'

export const facts: Facts = frozen({
  name: 'foursquare',
  title: 'Foursquare',
  hosts: { authorise: 'https://foursquare.com', token: 'https://foursquare.com', api: 'https://api.foursquare.com' },
  auth: {
    pkce: 'none',
    refresh: 'none',
    accessLifeSeconds: undefined,
    refreshLifeSeconds: undefined,
    quirk: 'The token does not expire as far as anyone says; the exchange is a GET with the secret in the URL.',
  },
  scopes: { separator: ' ', default: [], write: [], implied: {}, grantedBy: 'none' },
  delivers: ['check-ins'],
  // For each group of endpoints; `users/*` is the only one asked.
  pools: [
    {
      name: 'users',
      scope: 'token',
      unit: 'requests',
      windows: [{ name: 'hour', seconds: 3600, limit: 500, alignment: 'unknown' }],
    },
  ],
  overLimit: { status: 403, resetFrom: 'X-RateLimit-Reset in epoch seconds', countsWhenRefused: false },
  whenSpent: 'fail',
  retention: 'None published.',
  webhook: undefined,
})
