// The examples as a reader runs them: each alone, to its end, with nothing left behind.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { watchChild } from '../programs/child.ts'
import { prepareFolder, testFolder } from '../stores.ts'

const examples = fileURLToPath(new URL('../../examples/', import.meta.url))

const PRINTS: Readonly<Record<string, readonly RegExp[]>> = {
  '01-connect-and-import.ts': [
    /^Connected: strava, which grants .*activity:read_all/m,
    /^Completed: 5 activities imported$/m,
    /^(?:\d{4}-\d\d-\d\d {2}\w+ {2}[\d.]+ km {2}.+\n){5}$/m,
  ],
  '02-streams-and-shape.ts': [
    /: success, \d+ samples$/m,
    /^ {2}time: 0 1 2 …$/m,
    /^[^\s:]+ .*\n(?: {2}[\w-]+: [\d.]+ min, \d+ m\n)+$/m,
  ],
  '03-follow-events.ts': [
    /^import: Completed: 3 activities imported$/m,
    /^stream: success, \d+ samples of activity [\da-f-]{36}$/m,
  ],
}

/** What it prints. The folder in which it makes its own must be empty again. */
async function printed(example: string, store: string): Promise<string> {
  const folder = testFolder()
  const child = spawn(process.execPath, [`${examples}${example}`], {
    cwd: folder.path,
    env: { ...process.env, TMPDIR: folder.path, PACELINE_EXAMPLE_STORE: store },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  watchChild(child)
  const [[code], out, err] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)])
  assert.deepEqual([code, err], [0, ''])
  assert.deepEqual(readdirSync(folder.path), [])
  folder.remove()
  return out
}

describe('an example runs alone, shows what it promises and leaves nothing behind', () => {
  const store = testFolder()
  before(() => prepareFolder(store.path))
  after(() => store.remove())
  for (const example of readdirSync(examples).filter(file => /^\d/.test(file))) {
    test(example, async () => {
      const out = await printed(example, store.path)
      const patterns = PRINTS[example] ?? assert.fail('nothing is expected of it')
      for (const pattern of patterns) assert.match(out, pattern)
    })
  }
})
