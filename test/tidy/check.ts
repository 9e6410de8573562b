// A check reads the project's files one by one and says what is wrong with each. It brings samples on which it must speak or
// stay silent: a check that has never failed proves nothing.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { projectFiles, read } from './source.ts'

export interface Check {
  /** What holds when nothing is found. */
  readonly promise: string
  covers(file: string): boolean
  find(file: string, text: string): readonly string[]
  readonly samples: readonly { readonly file: string; readonly text: string; readonly finds: readonly string[] }[]
}

export function prove(check: Check): void {
  describe(check.promise, () => {
    test('in every file', () => {
      const files = projectFiles().filter(file => check.covers(file))
      assert(files.length > 0, 'no file is covered')
      assert.deepEqual(
        files.flatMap(file => check.find(file, read(file))),
        [],
      )
    })
    test('or it is found', () => {
      assert(check.samples.some(({ finds }) => finds.length > 0))
      for (const { file, text, finds } of check.samples) {
        assert(check.covers(file), `${file} is not covered`)
        assert.deepEqual(check.find(file, text), finds, text)
      }
    })
  })
}
