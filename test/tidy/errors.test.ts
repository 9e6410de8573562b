// The catalogue of errors, the code that raises them and the page that lists them say the same.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorCatalogue } from '../../src/kernel/errors.ts'
import { prove } from './check.ts'
import { isSource, lineAt, projectFiles, read, withoutComments } from './source.ts'

const codes = Object.keys(errorCatalogue)
/** These name codes for a reason of their own, which is no use. */
const LISTS = ['src/kernel/errors.ts', 'src/http/status.ts']

prove({
  promise: 'every error code that is mentioned exists',
  covers: file => /^(?:src|docs|examples)\/|^\w+\.md$/.test(file),
  find: (file, text) =>
    [...text.matchAll(/\bPACE_[A-Z][A-Z_]*\b/g)]
      .filter(([code]) => !codes.includes(code))
      .map(found => `${file}:${lineAt(text, found.index)} ${found[0]} is not in the catalogue`),
  samples: [
    { file: 'docs/a.md', text: 'see\n`PACE_NONSENSE`', finds: ['docs/a.md:2 PACE_NONSENSE is not in the catalogue'] },
    { file: 'src/a.ts', text: "'PACE_NONSENSE'", finds: ['src/a.ts:1 PACE_NONSENSE is not in the catalogue'] },
    { file: 'README.md', text: '`PACE_…`, `PACELINE_PORT`, `PACE_CONFIG`', finds: [] },
  ],
})

const unused = (texts: readonly string[]): string[] => {
  const code = texts.map(withoutComments).join('\n')
  return codes.filter(name => !new RegExp(`['"]${name}['"]`).test(code))
}

test('every error of the catalogue is raised or answered somewhere', () => {
  const sources = projectFiles().filter(file => isSource(file) && !LISTS.includes(file))
  assert.deepEqual(unused(sources.map(read)), [])
})

test('an error that nothing raises is found, also when a comment names it', () => {
  const all = codes.map(code => `'${code}'`)
  assert.deepEqual(unused(all), [])
  assert.deepEqual(unused([...all.slice(1), `// ${all[0]}`]), codes.slice(0, 1))
})

const undocumented = (page: string): string[] => codes.filter(code => !page.includes(`\`${code}\``))

test('every error of the catalogue is on its page, and one that is not is found', () => {
  assert.deepEqual(undocumented(read('docs/errors.md')), [])
  assert.deepEqual(undocumented(read('docs/errors.md').replaceAll('`PACE_CONFIG`', '')), ['PACE_CONFIG'])
})
