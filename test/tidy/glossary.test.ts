// The glossary is an explicit list and a true one: each of its words stands there once and occurs in the code, and no name in the code
// is one of the words that were replaced.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prove } from './check.ts'
import { codeOf, isCode, lineAt, projectFiles, read } from './source.ts'

const glossary = read('docs/glossary.md')
const SELF = 'test/tidy/glossary.test.ts'

/** `**word**` at the beginning of a row, with what stands in brackets behind it: `fault (simulator)`. */
const listed = [...glossary.matchAll(/^\| (\*\*.*?) \| (.*) \|$/gm)].flatMap(([, words = '', meaning = '']) =>
  [...words.matchAll(/\*\*([^*]+)\*\*( \([^)]*\))?/g)].map(([, word = '', about = '']) => ({
    word,
    about,
    isLater: meaning.startsWith('*later'),
  })),
)
const replaced = [...glossary.matchAll(/^\| ~~(\w+)~~ \|/gm)].map(([, word = '']) => word)

/** Where a replaced word is the right one: the stages of a night's sleep, and a field of the import's stored cursor. */
const FOREIGN: readonly { readonly word: string; readonly in: RegExp }[] = [
  {
    word: 'trouble',
    in: /^(?:test\/sixth-vendor\/)?src\/imports\/|^src\/http\/routes\/imports\.test\.ts|^test\/contract\/imports/,
  },
  { word: 'stage', in: /^src\/(?:sleep|vendors)\/|^src\/imports\/night|^src\/simulator\/(?:garmin|oura|whoop|world)\// },
]

/** `quotaTerms`, `quota_terms` and `quota-terms.ts` are the words quota and terms. */
const wordsOf = (name: string): string[] =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)

/** Purses too, and a melt as well as what melts. */
const isReplaced = (word: string): boolean => replaced.some(one => [one, `${one}s`, one.replace(/s$/, '')].includes(word))

/** Comments and strings may use a replaced word as ordinary English. */
const namesOf = (file: string, text: string): string =>
  file.endsWith('.ts') ? codeOf(text) : text.replaceAll(/--.*|'[^']*'/g, found => ' '.repeat(found.length))

function find(file: string, text: string): string[] {
  const allowed = (word: string): boolean => FOREIGN.some(one => word.startsWith(one.word) && one.in.test(file))
  const known = (name: string): string[] => wordsOf(name).filter(word => isReplaced(word) && !allowed(word))
  const code = namesOf(file, text)
  return [
    ...known(file.replace(/^.*\//, '')).map(word => `${file} is named by the replaced word ${word}`),
    ...[...code.matchAll(/[A-Za-z_]\w*/g)].flatMap(({ 0: name, index }) =>
      known(name).map(word => `${file}:${lineAt(code, index)} ${name} holds the replaced word ${word}`),
    ),
  ]
}

prove({
  promise: 'no name is made of a replaced word',
  covers: file => isCode(file) && /\.(?:ts|sql|lua)$/.test(file) && !file.includes('/migrations/'),
  find,
  samples: [
    { file: 'src/quota/purse.ts', text: '', finds: ['src/quota/purse.ts is named by the replaced word purse'] },
    { file: 'src/a.ts', text: 'const a = b.quotaTerms', finds: ['src/a.ts:1 quotaTerms holds the replaced word terms'] },
    {
      file: 'src/a.ts',
      text: '\nclass FrontDesk {}',
      finds: ['src/a.ts:2 FrontDesk holds the replaced word front', 'src/a.ts:2 FrontDesk holds the replaced word desk'],
    },
    {
      file: 'src/a.ts',
      text: 'const purses = [melt]',
      finds: ['src/a.ts:1 purses holds the replaced word purses', 'src/a.ts:1 melt holds the replaced word melt'],
    },
    { file: 'src/a.sql', text: '-- in front\nselect terms', finds: ['src/a.sql:2 terms holds the replaced word terms'] },
    { file: 'src/a.ts', text: "// in front\nsay('the terms')", finds: [] },
    { file: 'src/imports/run.ts', text: 'cursor.trouble', finds: [] },
  ],
})

test('every word of the glossary occurs in the code, and stands there once', () => {
  const code = projectFiles()
    .filter(file => /^(?:src|test)\//.test(file) && isCode(file) && file !== SELF)
    .map(file => ` ${file} ${read(file)} `.replaceAll(/([a-z\d])([A-Z])/g, '$1 $2').toLowerCase())
    .join(' ')
    .replaceAll(/[^a-z\d]+/g, ' ')
  const phraseOf = (word: string): string =>
    word
      .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .replaceAll(/[^a-z\d]+/g, ' ')
  const occurs = (word: string): boolean => new RegExp(` ${phraseOf(word)}(?:s|es)? `).test(code)
  assert(listed.length > 50 && replaced.length > 10)
  assert.deepEqual(
    listed.filter(({ word, isLater }) => !isLater && !occurs(word)).map(({ word }) => word),
    [],
  )
  const names = listed.map(({ word, about }) => `${word}${about}`)
  assert.deepEqual(
    names.filter((name, at) => names.indexOf(name) !== at),
    [],
  )
  assert(!occurs('a word that nobody wrote'))
})
