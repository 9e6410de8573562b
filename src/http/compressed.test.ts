import assert from 'node:assert/strict'
import { test } from 'node:test'
import { takesGzip } from './compressed.ts'

const rows: [accepted: string | undefined, takes: boolean][] = [
  [undefined, false],
  ['', false],
  ['gzip', true],
  ['deflate, GZIP;q=0.5, br', true],
  ['br', false],
  ['*', true],
  ['*;q=0.1, gzip;q=0', false],
  ['gzip; q=0', false],
  ['identity, *;q=0', false],
  ['gzip;q=nonsense', false],
]
for (const [accepted, takes] of rows) {
  test(`"${accepted}" ${takes ? 'takes' : 'does not take'} gzip`, () => {
    assert.equal(takesGzip(accepted), takes)
  })
}
