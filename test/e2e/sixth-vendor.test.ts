// docs/add-a-vendor.md as a reader follows it: a copy of the source gets a sixth, tiny vendor (test/sixth-vendor), by the files and the edits
// that the page names and no other. The copy passes the compiler, and its rooms import a history.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, globSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { watchChild } from '../programs/child.ts'
import { edits, type Edit } from '../sixth-vendor/edits.ts'
import { testFolder } from '../stores.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const FIXTURE = 'test/sixth-vendor'
const PAGE = 'docs/add-a-vendor.md'
const page = readFileSync(join(root, PAGE), 'utf8').replaceAll(/\s+/g, ' ')

const fromRoot = (link: string): string => posix.join(posix.dirname(PAGE), link)
const sorted = (files: Iterable<string>): string[] => [...new Set(files)].toSorted()

/** "Copy [a](../src/a.ts) to `src/b.ts`". */
const copied = [...page.matchAll(/\bCopy \[[^\]]*\]\(([^)]+)\) to `([^`]+)`/g)].map(([, from = '', to = '']) => ({
  from: fromRoot(from),
  to: to.replaceAll('<vendor>', 'milepost'),
}))
/** "Edit [a](../src/a.ts)". */
const edited = [...page.matchAll(/\bEdit \[[^\]]*\]\(([^)]+)\)/g)].map(([, link = '']) => fromRoot(link))

describe('the page and the test agree', () => {
  test('every file to copy or to edit is there', () => {
    assert.deepEqual(
      [...copied.map(({ from }) => from), ...edited].filter(file => !existsSync(join(root, file))),
      [],
    )
  })

  test('the vendor of the test has the files that the page says, and no other', () => {
    const files = globSync('src/**/*.ts', { cwd: join(root, FIXTURE) })
    assert.deepEqual(sorted(files), sorted(copied.map(({ to }) => to)))
  })

  test('the test edits the files that the page says, and no other', () => {
    assert.deepEqual(sorted(edits.map(({ file }) => file)), sorted(edited))
  })
})

function apply(folder: string, { file, line, becomes }: Edit): void {
  const lines = readFileSync(join(folder, file), 'utf8').split('\n')
  const found = lines.filter(one => one === line).length
  assert.equal(found, 1, `${file} has this line ${found} times, not once; change ${FIXTURE}/edits.ts and ${PAGE}: ${line}`)
  writeFileSync(join(folder, file), lines.flatMap(one => (one === line ? becomes : [one])).join('\n'))
}

function addVendor(folder: string): void {
  for (const name of ['src', 'test', 'package.json']) cpSync(join(root, name), join(folder, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as { compilerOptions: object }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src', `${FIXTURE}/*.ts`] }))
  cpSync(join(root, FIXTURE, 'src'), join(folder, 'src'), { recursive: true })
  for (const edit of edits) apply(folder, edit)
}

/** What the program says, when it ends well. */
async function run(folder: string, program: string, ...args: readonly string[]): Promise<string> {
  // Within a test run Node would take the child for one of its own files.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  watchChild(child)
  const [[code], out, err] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)])
  assert.equal(code, 0, out + err)
  return out
}

describe('a copy with a sixth vendor', () => {
  const folder = testFolder()
  before(() => addVendor(folder.path))
  after(() => folder.remove())

  test('passes the compiler, which names every table without an entry for it', async () => {
    await run(folder.path, join(root, 'node_modules/.bin/tsc'), '-p', '.')
  })

  test('imports a history, and keeps what is promised of every vendor', async () => {
    const files = ['src/vendors/milepost/wire.test.ts', 'src/vendors/vendors.test.ts', 'src/config.test.ts']
    const flags = ['--test', '--test-isolation=none', '--liftoff-only', '--test-reporter=spec']
    const out = await run(folder.path, process.execPath, ...flags, ...files, `${FIXTURE}/import-history.test.ts`)
    assert.match(out, /a history is stored whole and once/)
  })
})
