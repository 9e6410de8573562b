import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTimeZone } from '../kernel/time-zone.ts'
import { zoneOfOffset } from './offset-zone.ts'

const MINUTES_EAST = { 0: 0, 60: 60, '-300': -300, 840: 840, '-720': -720, 330: 330, 345: 345, '-570': -570, 570: 570 }

test('a zone that an offset becomes has that offset, in winter and in summer', () => {
  for (const minutes of Object.values(MINUTES_EAST)) {
    const zone = zoneOfOffset(minutes * 60)
    assert(zone !== null && isTimeZone(zone), String(minutes))
    for (const at of ['2026-01-15T12:00:00Z', '2026-07-15T12:00:00Z']) {
      const wall = new Intl.DateTimeFormat('sv', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' }).format(new Date(at))
      assert.equal(Date.parse(`${wall.replace(' ', 'T')}Z`) - Date.parse(at), minutes * 60_000, zone)
    }
  }
})

test('an offset that no zone has all year becomes none', () => {
  for (const seconds of [undefined, null, 15 * 3600, -13 * 3600, 1, 38_700, Number.NaN]) assert.equal(zoneOfOffset(seconds), null)
})
