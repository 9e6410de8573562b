// Who enters which room, by which door, and what they bring along. A test may look inside any room.
import assert from 'node:assert/strict'
import { posix as path } from 'node:path'
import { test } from 'node:test'
import { prove } from './check.ts'
import { MAY_ENTER, OPEN_ROOM, PACKAGES, type RoomTable, WIRING, WIRING_ENTERED_BY, WIRING_FOLDERS } from './rooms.ts'
import { codeOf, isSource } from './source.ts'

const isWiring = (file: string): boolean => WIRING.includes(file) || WIRING_FOLDERS.some(folder => file.startsWith(folder))
const roomOf = (file: string): string | undefined => /^src\/([^/]+)\//.exec(file)?.[1]

/** What a file imports or re-exports, statically or not; undefined where it cannot be known before it runs. */
function importsOf(text: string): (string | undefined)[] {
  const code = codeOf(text)
  return [...code.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)(['"])|\bimport\s*\(/g)].map(found => {
    const [whole, quote] = found
    const start = found.index + whole.length
    return quote === undefined ? undefined : text.slice(start, code.indexOf(quote, start))
  })
}

function find(file: string, text: string): string[] {
  const room = roomOf(file)
  if (isWiring(file)) return []
  if (room === undefined) return [`${file} belongs to no room`]
  const enterable = MAY_ENTER[room]
  if (enterable === undefined) return [`${file}: ${room} is not a room of the table`]
  return importsOf(text).flatMap(imported => {
    const breach = imported === undefined ? 'imports what only shows when it runs' : breachOf(file, room, imported)
    return breach === undefined ? [] : [`${file} ${breach}`]
  })
}

function breachOf(file: string, room: string, imported: string): string | undefined {
  if (imported.startsWith('node:')) return undefined
  if (!imported.startsWith('.')) return packageBreach(room, imported)
  const target = path.join(path.dirname(file), imported)
  const entered = roomOf(target)
  if (isWiring(target)) return WIRING_ENTERED_BY.includes(room) ? undefined : `enters the wiring (${target})`
  if (entered === undefined) return `reaches out of src for ${target}`
  if (entered === room) return undefined
  if (!MAY_ENTER[room]?.includes(entered)) return `may not enter ${entered}`
  const door = `src/${entered}/${entered}.ts`
  return entered === OPEN_ROOM || target === door ? undefined : `enters ${entered} by ${target} and not by its door`
}

function packageBreach(room: string, imported: string): string | undefined {
  if (room === OPEN_ROOM) return `imports ${imported}, but the kernel lives on node: alone`
  const rule = PACKAGES.find(({ name }) => name.test(imported))
  return rule === undefined || rule.rooms.includes(room) ? undefined : `may not import ${imported}`
}

const sample = (file: string, text: string, ...finds: string[]): { file: string; text: string; finds: string[] } => ({
  file,
  text,
  finds: finds.map(found => `${file} ${found}`),
})

prove({
  promise: 'every import respects the rooms',
  covers: isSource,
  find,
  samples: [
    sample('src/quota/ledger.ts', "import { a } from '../http/http.ts'", 'may not enter http'),
    sample('src/quota/ledger.ts', "import type { A } from '../http/http.ts'", 'may not enter http'),
    sample('src/quota/ledger.ts', "import '../http/http.ts'", 'may not enter http'),
    sample('src/quota/ledger.ts', "export * from '../http/http.ts'", 'may not enter http'),
    sample('src/quota/ledger.ts', "const a = await import( '../http/http.ts' )", 'may not enter http'),
    sample('src/quota/ledger.ts', "import {\n  a,\n  b,\n} from '../../http/http.ts'", 'reaches out of src for http/http.ts'),
    sample('src/quota/ledger.ts', 'await import(name)', 'imports what only shows when it runs'),
    sample('src/quota/ledger.ts', 'await import(`../${name}.ts`)', 'imports what only shows when it runs'),
    sample('src/quota/ledger.ts', "import { a } from '../db/db.ts'\nimport { b } from './window.ts'"),
    sample('src/quota/ledger.ts', "import { a } from '../kernel/clock.ts'\nimport b from 'node:fs'\nimport c from 'zod'"),
    sample('src/kernel/ids.ts', "Buffer.from('00', 'hex')"),
    sample('src/quota/ledger.ts', "// import { a } from '../http/http.ts'\nconst from = 'import x from \"../http/http.ts\"'"),
    sample(
      'src/quota/ledger.ts',
      "import { a } from '../db/database-pglite.ts'",
      'enters db by src/db/database-pglite.ts and not by its door',
    ),
    sample('src/http/app.ts', "import { start } from '../engine.ts'", 'enters the wiring (src/engine.ts)'),
    sample('src/cli/up.ts', "import { start } from '../engine.ts'"),
    sample('src/engine.ts', "import { a } from './db/database-pglite.ts'"),
    sample('src/kernel/clock.ts', "import { z } from 'zod'", 'imports zod, but the kernel lives on node: alone'),
    sample('src/kernel/clock.ts', "import fs from 'fs'", 'imports fs, but the kernel lives on node: alone'),
    sample('src/db/trace.ts', "import { trace } from '@opentelemetry/api'", 'may not import @opentelemetry/api'),
    sample('src/http/trace.ts', "import { trace } from '@opentelemetry/api'"),
    sample('src/http/trace.ts', "import { a } from '@opentelemetry/core'", 'may not import @opentelemetry/core'),
    sample('src/telemetry/traces.ts', "import { a } from '@opentelemetry/core'"),
    { file: 'src/cellar/wine.ts', text: '', finds: ['src/cellar/wine.ts: cellar is not a room of the table'] },
    sample('src/attic.ts', '', 'belongs to no room'),
  ],
})

function circleIn(table: RoomTable): string | undefined {
  const visit = (room: string, trail: readonly string[]): string | undefined => {
    if (trail.includes(room)) return [...trail, room].join(' -> ')
    return table[room]?.map(next => visit(next, [...trail, room])).find(circle => circle !== undefined)
  }
  return Object.keys(table)
    .map(room => visit(room, []))
    .find(circle => circle !== undefined)
}

test('the rooms have no circle, and one would be found', () => {
  assert.equal(circleIn(MAY_ENTER), undefined)
  assert.equal(circleIn({ a: ['b'], b: ['c'], c: ['b'] }), 'a -> b -> c -> b')
})

test('the table names only rooms of the table', () => {
  for (const [room, enters] of Object.entries(MAY_ENTER)) {
    for (const other of enters) assert(other in MAY_ENTER, `${room} enters ${other}, which is no room`)
  }
})
