// Milepost, which exists only in a test: workouts, page by page, and few calls a quarter of an hour.
import { frozen, type Facts } from '../facts.ts'

const HOST = 'https://milepost.example'

export const facts: Facts = frozen({
  name: 'milepost',
  title: 'Milepost',
  hosts: { authorise: HOST, token: HOST, api: HOST },
  scopes: { separator: ' ', default: ['workouts'], write: [], implied: {} },
  pools: [
    {
      name: 'app',
      scope: 'app',
      unit: 'requests',
      windows: [{ name: '15min', seconds: 900, limit: 10, alignment: 'clock-quarter' }],
    },
  ],
  whenSpent: 'resume',
  webhook: undefined,
})
