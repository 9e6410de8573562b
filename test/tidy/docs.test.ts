import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keptPage, pages, stalePages } from '../../scripts/docs.ts'

test('every generated page is what the code says today (npm run docs writes them)', () => {
  assert.deepEqual(stalePages(keptPage), [])
})

test('a page that was edited or is missing is named', () => {
  const edited = (path: string): string | undefined => (path === 'docs/errors.md' ? `${pages()[path]}by hand` : pages()[path])
  assert.deepEqual(stalePages(edited), ['docs/errors.md'])
  assert.deepEqual(
    stalePages(() => undefined),
    Object.keys(pages()),
  )
})
