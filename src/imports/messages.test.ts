import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { messageOf, type Told } from './messages.ts'

const NOON = Date.UTC(2026, 2, 10, 12, 5)
const told: Told = {
  status: 'started',
  imported: 150,
  total: 847,
  retryAt: undefined,
  cause: undefined,
  error: undefined,
  noun: 'activities',
  title: 'Strava',
}
const paused = (retryAt: number, cause: Told['cause'] = 'limit'): Told => ({ ...told, status: 'rate_limited', retryAt, cause })

describe('what a person reads about an import', () => {
  const rows: [told: Told, sentence: string][] = [
    [{ ...told, status: 'queued', imported: 0, total: undefined }, 'Importing'],
    [told, 'Importing: 150 of 847 activities'],
    [{ ...told, status: 'queued' }, 'Importing: 150 of 847 activities'],
    [paused(Date.UTC(2026, 2, 10, 14, 15, 3)), 'Rate limited, resuming at 14:15'],
    [paused(Date.UTC(2026, 2, 10, 14, 15, 3), 'yield'), 'Rate limited, resuming at 14:15'],
    [paused(Date.UTC(2026, 2, 10, 14, 15, 3), 'closed'), 'Rate limited, resuming at 14:15'],
    [paused(Date.UTC(2026, 2, 10, 14, 20, 3), 'vendor'), 'Strava does not answer, next try at 14:20'],
    [paused(Date.UTC(2026, 2, 10, 14, 20, 3), 'fault'), 'Paceline has a fault of its own, next try at 14:20'],
    [paused(NOON, 'inactive'), 'Strava has switched this application off: its owner needs a subscription'],
    [{ ...paused(NOON, 'push'), title: 'Garmin' }, 'Garmin is sending'],
    [{ ...paused(Date.UTC(2026, 2, 10, 14, 15, 3)), status: 'queued' }, 'Rate limited, resuming at 14:15'],
    [paused(Date.UTC(2026, 2, 11, 0, 0, 3), 'reserve'), 'Rate limited, resuming tomorrow at 00:00'],
    [paused(NOON + 60_000, 'budget'), 'Waiting for the budget service'],
    [{ ...told, status: 'completed', imported: 847 }, 'Completed: 847 activities imported'],
    [{ ...told, status: 'completed', imported: 0 }, 'Completed: no new activities'],
    [
      { ...told, status: 'failed', error: 'Strava needs a new consent; connect it again.' },
      'Strava needs a new consent; connect it again.',
    ],
  ]
  for (const [what, sentence] of rows) {
    test(`${sentence} (${what.status}${what.cause === undefined ? '' : `, ${what.cause}`})`, () => {
      assert.equal(messageOf(what, 'UTC', NOON), sentence)
    })
  }
})

describe('the time of a pause is the athlete’s', () => {
  const midnight = Date.UTC(2026, 2, 11, 0, 0, 3)
  const rows: [zone: string, now: number, at: number, when: string][] = [
    ['Europe/Berlin', NOON, midnight, 'tomorrow at 01:00'],
    ['America/New_York', NOON, midnight, 'at 20:00'],
    ['Asia/Tokyo', NOON, Date.UTC(2026, 2, 10, 12, 15, 3), 'at 21:15'],
    ['Asia/Kolkata', NOON, Date.UTC(2026, 2, 10, 18, 30, 3), 'tomorrow at 00:00'],
    ['Asia/Tokyo', Date.UTC(2026, 2, 10, 14, 58), Date.UTC(2026, 2, 10, 15, 0, 3), 'tomorrow at 00:00'],
    ['Europe/Berlin', Date.UTC(2026, 2, 28, 12), Date.UTC(2026, 2, 29, 0, 0, 3), 'tomorrow at 01:00'],
    ['Europe/Berlin', Date.UTC(2026, 2, 29, 0, 58), Date.UTC(2026, 2, 29, 1, 0, 3), 'at 03:00'],
  ]
  for (const [zone, now, at, when] of rows) {
    test(`${new Date(at).toISOString()} is ${when} in ${zone}`, () => {
      assert.equal(messageOf(paused(at), zone, now), `Rate limited, resuming ${when}`)
    })
  }

  test('a pause that ended yesterday and was not taken up yet does not end tomorrow', () => {
    const at = Date.UTC(2026, 2, 10, 23, 59, 58)
    assert.equal(messageOf(paused(at), 'UTC', at + 4_000), 'Rate limited, resuming at 23:59')
  })
})
