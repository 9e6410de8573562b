// Foursquare's v2 API (Swarm check-ins), from its documentation and its 2014 description.
import { frozen, type Facts } from '../facts.ts'

export const facts: Facts = frozen({
  name: 'foursquare',
  title: 'Foursquare',
  hosts: { authorise: 'https://foursquare.com', token: 'https://foursquare.com', api: 'https://api.foursquare.com' },
  scopes: { separator: ' ', default: [], write: [], implied: {} },
  // For each group of endpoints; `users/*` is the only one asked.
  pools: [
    {
      name: 'users',
      scope: 'token',
      unit: 'requests',
      windows: [{ name: 'hour', seconds: 3600, limit: 500, alignment: 'unknown' }],
    },
  ],
  whenSpent: 'fail',
  webhook: undefined,
})
