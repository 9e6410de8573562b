// WHOOP, API v2, from its documentation as of autumn 2026.
import { frozen, type Facts } from '../facts.ts'

const HOST = 'https://api.prod.whoop.com'

export const facts: Facts = frozen({
  name: 'whoop',
  title: 'WHOOP',
  hosts: { authorise: HOST, token: HOST, api: HOST },
  scopes: {
    separator: ' ',
    default: ['offline', 'read:sleep', 'read:profile'],
    write: [],
    implied: {},
  },
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
  whenSpent: 'resume',
  // WHOOP tries 5 times over about an hour. Deliveries of one event share a trace id, and events can be lost.
  webhook: { answerWithinMs: 1000, bodyLimitBytes: 256 * 1024 },
})
