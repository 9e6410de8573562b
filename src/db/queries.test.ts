import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { loadQueries, positioned, type Query } from './queries.ts'

const SQL = `
-- name: rename
-- Two names, one of them twice.
update athlete set name = $name where id = $id and name <> $name;

-- name: count
select count(*) from athlete
`

test('a parameter gets one position, however often it stands there', () => {
  assert.deepEqual(positioned('select $b, $a::text, $b, $aa where $a is null'), {
    text: 'select $1, $2::text, $1, $3 where $2 is null',
    parameters: ['b', 'a', 'aa'],
  })
})

const untouched = [
  '-- what costs $five\nselect 1',
  '/* $five\n $six */ select 1',
  `select 'it''s $five'`,
  'select 1 as "$five"',
  'select $$ $five $$',
  'select $body$ $five $$ $six $body$',
  'select price$five',
]
for (const text of untouched) {
  test(`nothing is a parameter in ${JSON.stringify(text)}`, () => {
    assert.deepEqual(positioned(text), { text, parameters: [] })
  })
}

test('after what is passed over, parameters are found again', () => {
  const { text, parameters } = positioned(`select '$a' || $b -- $c\n, $$ $d $$, "$e", $f /* $g */ + $b`)
  assert.deepEqual(parameters, ['b', 'f'])
  assert.equal(text, `select '$a' || $1 -- $c\n, $$ $d $$, "$e", $2 /* $g */ + $1`)
})

describe('a loaded file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'paceline-queries-'))
  const file = pathToFileURL(join(folder, 'some.sql'))
  before(() => {
    writeFileSync(file, SQL)
  })
  after(() => {
    rmSync(folder, { recursive: true })
  })
  const load = () => loadQueries(file, { rename: ['id', 'name'], count: [] })

  test('makes queries of named values; undefined becomes null, as null stays, and false and 0 too', () => {
    const sql = load()
    const { text, values } = sql.rename({ id: 7, name: undefined })
    assert.match(text, /set name = \$1 where id = \$2 and name <> \$1;$/)
    assert.deepEqual(values, [null, 7])
    assert.deepEqual(sql.rename({ name: false, id: 0 }).values, [false, 0])
    assert.deepEqual(sql.count(), { text: 'select count(*) from athlete', values: [] })
  })

  test('refuses a value that is missing, and one that nobody asked for', () => {
    const rename: (given?: Record<string, unknown>) => Query = load().rename as never
    assert.throws(() => rename({ id: 1 }), /rename: no value for \$name/)
    assert.throws(() => rename(), /rename: no value for \$name/)
    assert.throws(() => rename({ id: 1, name: 'Ada', nmae: 'Bob' }), /values for rename: missing \[\] unexpected \[nmae\]/)
    const count: (given?: Record<string, unknown>) => Query = load().count
    assert.throws(() => count({ id: 1 }), /values for count: missing \[\] unexpected \[id\]/)
  })

  test('is refused where the store knows other blocks, or other parameters', () => {
    assert.throws(
      () => loadQueries(file, { rename: ['id', 'name'], cuont: [] }),
      /blocks: missing \[cuont\] unexpected \[count\]/,
    )
    assert.throws(
      () => loadQueries(file, { rename: ['id', 'nmae'], count: [] }),
      /parameters of rename: missing \[nmae\] unexpected \[name\]/,
    )
  })
})
