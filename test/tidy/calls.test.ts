// Time, chance and the environment come in through ports. The linter bans the same calls; this check also sees what it
// cannot name (`new Date()`, an import under another name), and keeps the list of exceptions short and true.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prove } from './check.ts'
import { codeOf, isSource, lineAt, read } from './source.ts'

interface Ban {
  readonly calls: RegExp
  readonly instead: string
  /** Where it is the port's own work. */
  readonly home: RegExp
}

const KERNEL = /^src\/kernel\//
const bans: readonly Ban[] = [
  {
    calls: /\bDate\.now\b|\bDate\s*\(\s*\)|\bnew Date\b(?!\s*\()|\bperformance\.\w+|\bhrtime\b/g,
    instead: 'clock.now()',
    home: KERNEL,
  },
  {
    calls: /(?<![.\w]|globalThis)(?:globalThis\.)?(?:setTimeout|setInterval|setImmediate)\b/g,
    instead: 'clock.sleep(ms)',
    home: KERNEL,
  },
  { calls: /\bAbortSignal\.timeout\b/g, instead: 'clock.deadline(ms)', home: KERNEL },
  { calls: /\bAbortSignal\.any\b/g, instead: 'linked(…), which can be disposed of', home: KERNEL },
  {
    calls: /\bMath\.random\b|\b(?:random(?:UUID|Bytes|Int|Fill\w*)|getRandomValues)\b/g,
    instead: 'the Random port',
    home: KERNEL,
  },
  {
    calls: /\bprocess\.env\b|\bprocess\s*\[|\benv\b[^}]*\}\s*(?:=\s*process\b|from\b)/g,
    instead: 'config.ts',
    home: /^src\/config\.ts$/,
  },
]

const exceptions: readonly { file: string; call: string; because: string }[] = [
  {
    file: 'src/db/database-pglite.ts',
    call: 'setImmediate',
    because: 'PGlite never yields to the event loop; one turn after each call is not a wait for time',
  },
]
const isException = (file: string, call: string): boolean => exceptions.some(one => one.file === file && one.call === call)

function callsIn(file: string, text: string): { call: string; line: number; instead: string }[] {
  const code = codeOf(text)
  return bans
    .filter(({ home }) => !home.test(file))
    .flatMap(({ calls, instead }) =>
      [...code.matchAll(calls)].map(found => ({ call: found[0], line: lineAt(code, found.index), instead })),
    )
}

const find = (file: string, text: string): string[] =>
  callsIn(file, text)
    .filter(({ call }) => !isException(file, call))
    .map(({ call, line, instead }) => `${file}:${line} ${call}: ask ${instead}`)

const ROOM = 'src/quota/ledger.ts'
const found = (text: string, call: string, instead: string): { file: string; text: string; finds: string[] } => ({
  file: ROOM,
  text,
  finds: [`${ROOM}:1 ${call}: ask ${instead}`],
})
const silent = (file: string, text: string): { file: string; text: string; finds: string[] } => ({ file, text, finds: [] })

prove({
  promise: 'time, chance and the environment are asked of their ports',
  covers: isSource,
  find,
  samples: [
    found('const at = Date.now()', 'Date.now', 'clock.now()'),
    found('new Date()', 'Date()', 'clock.now()'),
    found('new Date( /* now */ )', 'Date(           )', 'clock.now()'),
    found('const d = new Date', 'new Date', 'clock.now()'),
    found('performance.now()', 'performance.now', 'clock.now()'),
    found('process.hrtime()', 'hrtime', 'clock.now()'),
    found('setTimeout(f, 5)', 'setTimeout', 'clock.sleep(ms)'),
    found("import { setTimeout as wait } from 'node:timers/promises'", 'setTimeout', 'clock.sleep(ms)'),
    found('globalThis.setInterval(f, 5)', 'globalThis.setInterval', 'clock.sleep(ms)'),
    found('setImmediate(f)', 'setImmediate', 'clock.sleep(ms)'),
    found('fetch(url, { signal: AbortSignal.timeout(5) })', 'AbortSignal.timeout', 'clock.deadline(ms)'),
    found('AbortSignal.any([one, other])', 'AbortSignal.any', 'linked(…), which can be disposed of'),
    found('Math.random()', 'Math.random', 'the Random port'),
    found('crypto.randomUUID()', 'randomUUID', 'the Random port'),
    found("import { randomBytes as r } from 'node:crypto'", 'randomBytes', 'the Random port'),
    found('`${process.env.HOME}`', 'process.env', 'config.ts'),
    found("process['env']", 'process[', 'config.ts'),
    found('const { env } = process', 'env } = process', 'config.ts'),
    { file: ROOM, text: '\n\nDate.now()', finds: [`${ROOM}:3 Date.now: ask clock.now()`] },
    silent(ROOM, "// Date.now()\nconst why = 'never Math.random()'\nnew Date(0)\nsocket.setTimeout(5)\nnew Date('')"),
    silent('src/kernel/clock.ts', 'Date.now(); setTimeout(f, 5)'),
    silent('src/config.ts', 'process.env'),
    silent('src/db/database-pglite.ts', 'setImmediate(f)'),
  ],
})

test('every exception is still needed', () => {
  for (const { file, call, because } of exceptions) {
    assert(
      callsIn(file, read(file)).some(made => made.call === call),
      `${file} no longer needs ${call} (${because})`,
    )
  }
})
