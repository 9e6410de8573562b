// Garmin's developer programme, from developers' public notes: it publishes no specification. Whoever goes live compares this
// with the documents Garmin gives to approved developers.
import { frozen, type Facts } from '../facts.ts'

export const facts: Facts = frozen({
  name: 'garmin',
  title: 'Garmin',
  hosts: { authorise: 'https://connect.garmin.com', token: 'https://diauth.garmin.com', api: 'https://apis.garmin.com' },
  // Permissions are ticked on Garmin's page, not asked for in the URL; history is off by default there.
  scopes: {
    separator: ' ',
    default: ['ACTIVITY_EXPORT', 'HEALTH_EXPORT', 'HISTORICAL_DATA_EXPORT'],
    write: [],
    implied: {},
  },
  pools: [
    {
      name: 'requests',
      scope: 'app',
      unit: 'requests',
      windows: [{ name: 'minute', seconds: 60, limit: 100, alignment: 'unknown' }],
    },
    // An evaluation key's quota; production has 10,000.
    {
      name: 'backfill-days',
      scope: 'app',
      unit: 'days',
      windows: [{ name: 'minute', seconds: 60, limit: 100, alignment: 'unknown' }],
    },
  ],
  whenSpent: 'resume',
  // Garmin tries for 7 days, less and less often. It sends a summary again under the same id as the summary grows, and
  // it sends the samples of long activities whole.
  webhook: { answerWithinMs: 30_000, bodyLimitBytes: 100 * 1024 * 1024 },
})
