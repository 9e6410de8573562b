import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judge, openVendor } from '../vendors.ts'

const { endpoints } = openVendor('milepost', { clientId: 'c', clientSecret: 's' })
const answer = (value: unknown, status = 200, headers: Record<string, string> = {}) => ({
  status,
  headers,
  body: Buffer.from(JSON.stringify(value)),
})

test('a workout that cannot be read is named and hides no other', () => {
  const [good, bad] = [{ id: '1', began: '2026-01-02T07:00:00Z', took: 1800 }, { id: '2' }]
  const reading = endpoints.workouts({ page: 1 }).read(answer([good, bad]))
  assert(reading.outcome === 'ok')
  assert.deepEqual(reading.value.items, [good])
  assert.deepEqual(
    reading.value.broken.map(({ id }) => id),
    ['2'],
  )
})

test('too many calls are told with the time to come back', () => {
  const verdict = judge('milepost', answer({}, 429, { 'retry-after': '300' }), 0)
  assert.deepEqual(verdict, { outcome: 'rate_limited', retryAt: 300_000, scope: 'short' })
})
