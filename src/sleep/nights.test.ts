import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import type { GarminSleep, OuraSleep, WhoopSleep } from '../vendors/vendors.ts'
import { garminNights, ouraNights, whoopNights } from './nights.ts'

const HEARD_AT = Date.UTC(2026, 2, 10, 12)
const HEARD = new Date(HEARD_AT).toISOString()

describe('a night as the ingest takes it', () => {
  const oura = (id: string, more: Partial<OuraSleep> = {}): OuraSleep => ({
    id,
    day: '2026-03-10',
    bedtime_start: '2026-03-09T23:10:00+01:00',
    bedtime_end: '2026-03-10T07:00:00+01:00',
    type: 'long_sleep',
    total_sleep_duration: 25_230,
    ...more,
  })

  test('Oura: the longest long sleep of the day, with the score of the other list', () => {
    const periods = [
      oura('short', { total_sleep_duration: 14_000 }),
      oura('long', { deep_sleep_duration: 5_400, rem_sleep_duration: null }),
      oura('nap', { type: 'late_nap', total_sleep_duration: 90_000 }),
      oura('gone', { type: 'deleted', total_sleep_duration: 90_000 }),
      oura('unmeasured', { day: '2026-03-09', total_sleep_duration: null }),
    ]
    assert.deepEqual(ouraNights(periods, [{ id: 's', day: '2026-03-10', score: 82 }], HEARD_AT), [
      {
        date: '2026-03-10',
        durationMinutes: 421,
        capturedAt: HEARD,
        raw: { source: 'oura', externalId: 'long', qualityScore: 82, deepSleep: 90 },
      },
    ])
    assert.deepEqual(ouraNights([oura('unscored')], [], HEARD_AT)[0]?.raw, { source: 'oura', externalId: 'unscored' })
  })

  const whoop = (more: Partial<WhoopSleep> = {}): WhoopSleep => ({
    id: 'w1',
    start: '2026-03-10T04:00:00.000Z',
    end: '2026-03-10T23:30:00.000Z',
    updated_at: '2026-03-11T01:00:00.000Z',
    timezone_offset: '-05:00',
    nap: false,
    score_state: 'SCORED',
    score: {
      stage_summary: {
        total_light_sleep_time_milli: 12_000_000,
        total_slow_wave_sleep_time_milli: 6_000_000,
        total_rem_sleep_time_milli: 3_000_000,
      },
      sleep_performance_percentage: 91,
    },
    ...more,
  })

  test('WHOOP: asleep is light, deep and dreaming; the day is the one where the athlete woke', () => {
    assert.deepEqual(whoopNights([whoop()], HEARD_AT), [
      {
        date: '2026-03-10',
        durationMinutes: 350,
        capturedAt: '2026-03-11T01:00:00.000Z',
        raw: { source: 'whoop', externalId: 'w1', qualityScore: 91, deepSleep: 100, remSleep: 50 },
      },
    ])
    const days = ['+05:30', '-05:00', 'Z', undefined].map(
      offset => whoopNights([whoop({ timezone_offset: offset })], HEARD_AT)[0]?.date,
    )
    assert.deepEqual(days, ['2026-03-11', '2026-03-10', '2026-03-10', '2026-03-10'])
  })

  test('WHOOP: naps, unfinished and unscored nights are left for later', () => {
    const none = [whoop({ nap: true }), whoop({ end: null }), whoop({ score_state: 'PENDING_SCORE' }), whoop({ score: null })]
    assert.deepEqual(whoopNights(none, HEARD_AT), [])
  })

  test('Garmin: as it came, unless the watch was not worn', () => {
    const sleep: GarminSleep = {
      userId: 'u',
      summaryId: 'x1',
      calendarDate: '2026-03-10',
      startTimeInSeconds: 1,
      durationInSeconds: 25_200,
      overallSleepScore: { value: 87 },
    }
    assert.deepEqual(garminNights([sleep, { ...sleep, validation: 'OFF_WRIST' }], HEARD_AT), [
      {
        date: '2026-03-10',
        durationMinutes: 420,
        capturedAt: HEARD,
        raw: { source: 'garmin', externalId: 'x1', qualityScore: 87 },
      },
    ])
  })
})
