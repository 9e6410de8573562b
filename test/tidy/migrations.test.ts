// A migration that somebody may have applied is never edited: its hash is frozen beside it.
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { migrationsIn, type Migration } from '../../src/db/db.ts'
import frozen from '../../src/db/migrations/frozen.json' with { type: 'json' }

const breaches = (migrations: readonly Migration[], hashes: Readonly<Record<string, string>>): string[] => [
  ...migrations.flatMap(({ version, name, hash }) => {
    const key = `${String(version).padStart(4, '0')}-${name}`
    if (hashes[key] === undefined) return [`${key} is not frozen: add "${key}": "${hash}" to frozen.json`]
    return hashes[key] === hash ? [] : [`${key} was edited after it was frozen: undo that and add a new migration`]
  }),
  ...Object.keys(hashes)
    .slice(migrations.length)
    .map(key => `${key} is frozen but gone`),
]

test('every migration is as it was frozen', () => {
  assert.deepEqual(breaches(migrationsIn(), frozen), [])
})

test('an edited, a new and a removed migration are seen', () => {
  const one: Migration = { version: 1, name: 'one', hash: 'a', text: '' }
  assert.match(breaches([one], { '0001-one': 'b' })[0] ?? '', /was edited/)
  assert.match(breaches([one], {})[0] ?? '', /is not frozen/)
  assert.match(breaches([], { '0001-one': 'a' })[0] ?? '', /frozen but gone/)
})
