// The blanking that the other checks rely on, on the places where such a thing goes wrong.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeOf, isSource, projectFiles, read, withoutComments } from './source.ts'

const samples: [text: string, code: string][] = [
  ['a // b\nc', 'a     \nc'],
  ['a /* b\n c */ d', 'a     \n      d'],
  ["say('x') // 'y", "say(' ')      "],
  ['say("it\'s")', 'say("    ")'],
  ["say('it\\'s', now)", "say('     ', now)"],
  ["url('http://x') + now", "url('        ') + now"],
  ['`a ${now} b`', '`  ${now}  `'],
  ['`a ${ `b ${now} c` } d` + now', '`  ${ `  ${now}  ` }  ` + now'],
  ['`${ { a: { b: 1 } } } now` + now', '`${ { a: { b: 1 } } }    ` + now'],
  ["`${ '}' } // now`", "`${ ' ' }       `"],
  ['`\\` \\${ now $ {`; now', '`              `; now'],
  ['x = /[\'"`]/.test(y) // z', 'x = /     /.test(y)     '],
  ['return /[/]\\//.test(now)', 'return /     /.test(now)'],
  ["a / b; c('/')", "a / b; c(' ')"],
  ['f(1) / 2 // half', 'f(1) / 2        '],
]
for (const [text, code] of samples) {
  test(`only what runs is left of ${JSON.stringify(text)}`, () => {
    assert.equal(codeOf(text), code)
  })
}

test('strings may stay when only comments are unwanted', () => {
  assert.equal(withoutComments("a('b') // c"), "a('b')     ")
})

test('blanking keeps every line of every file in its place', () => {
  const sources = projectFiles().filter(isSource)
  assert(sources.length > 10)
  for (const file of sources) {
    const [text, code] = [read(file), codeOf(read(file))]
    assert.equal(code.length, text.length)
    assert.deepEqual(
      [...code.matchAll(/\n/g)].map(found => found.index),
      [...text.matchAll(/\n/g)].map(found => found.index),
    )
  }
})

test('the project is neither what git ignores nor git itself', () => {
  const files = projectFiles()
  assert(files.includes('package.json') && files.includes('.ci/run'))
  assert.deepEqual(
    files.filter(file => /node_modules|^\.git\/|\.env$/.test(file)),
    [],
  )
})
