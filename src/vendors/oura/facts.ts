// Oura, API v2, from its specification and FAQ as of autumn 2026.
import { frozen, type Facts, type Window } from '../facts.ts'

// The FAQ's number. Two layers exist and neither's own number is published, so each is counted with it.
const rolling: Window = { name: '5min', seconds: 300, limit: 5000, alignment: 'rolling' }

export const facts: Facts = frozen({
  name: 'oura',
  title: 'Oura',
  hosts: { authorise: 'https://cloud.ouraring.com', token: 'https://api.ouraring.com', api: 'https://api.ouraring.com' },
  scopes: { separator: ' ', default: ['personal', 'daily'], write: [], implied: {} },
  pools: [
    { name: 'token', scope: 'token', unit: 'requests', windows: [rolling] },
    { name: 'app', scope: 'app', unit: 'requests', windows: [rolling] },
  ],
  whenSpent: 'resume',
  // Oura tries 10 times over about an hour. An answer of 410 cancels the subscription, and every subscription expires.
  webhook: { answerWithinMs: 10_000, bodyLimitBytes: 256 * 1024 },
})
