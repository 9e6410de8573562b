import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTimeZone } from './time-zone.ts'

test('a name of the time zone database is a time zone', () => {
  for (const name of ['Europe/Berlin', 'America/Argentina/Buenos_Aires', 'UTC', 'Etc/GMT+2']) assert(isTimeZone(name), name)
})

test('an offset, an abbreviation with one, a place without a zone and nothing are none', () => {
  for (const name of ['+02:00', '-0530', '02:00', 'GMT+2', 'Europe/Atlantis', ' Europe/Berlin', ''])
    assert(!isTimeZone(name), name)
})
