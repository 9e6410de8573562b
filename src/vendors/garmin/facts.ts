// Garmin's developer programme, from developers' public notes: it publishes no specification. Whoever goes live compares this
// with the documents Garmin gives to approved developers.
import { frozen, type Facts } from '../facts.ts'

export const facts: Facts = frozen({
  name: 'garmin',
  title: 'Garmin',
  hosts: { authorise: 'https://connect.garmin.com', token: 'https://diauth.garmin.com', api: 'https://apis.garmin.com' },
  auth: {
    pkce: 'required',
    refresh: 'rotates',
    accessLifeSeconds: 86_400,
    refreshLifeSeconds: 90 * 86_400,
    quirk: 'A refresh token left unused for 90 days dies.',
  },
  // Permissions are ticked on Garmin's page, not asked for in the URL; history is off by default there.
  scopes: {
    separator: ' ',
    default: ['ACTIVITY_EXPORT', 'HEALTH_EXPORT', 'HISTORICAL_DATA_EXPORT'],
    write: [],
    implied: {},
    grantedBy: 'permissions',
  },
  delivers: ['activities', 'streams', 'sleep'],
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
  overLimit: { status: 429, resetFrom: 'nothing', countsWhenRefused: false },
  whenSpent: 'resume',
  retention: 'Undelivered notifications are kept for 7 days; deregistration asks for deletion.',
  webhook: {
    answerWithinMs: 30_000,
    retries: 'with growing delay for 7 days; summaries are sent again under the same id as they grow',
    proof: 'the header garmin-client-id: weak, so the URL is a secret too',
    bodyLimitBytes: 100 * 1024 * 1024,
  },
})
