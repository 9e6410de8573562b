import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { openPglite, type Database } from './db.ts'

describe('prepared statements of the embedded store', () => {
  let database: Database
  before(async () => {
    database = await openPglite({})
    await database.script('create table run (id integer primary key, name text, at timestamptz, tags text[])')
  })
  after(() => database.close())

  const ask = <T>(text: string, ...values: readonly unknown[]): Promise<T[]> => database.query<T>({ text, values })

  test('take and give the same values as others', async () => {
    const [at, tags] = [new Date('2026-03-10T12:00:00.123Z'), ['a', 'b,c', '"']]
    const text = 'insert into run values ($1, $2, $3, $4) returning *'
    assert.deepEqual(await ask(text, 1, 'Ünï', at, tags), [{ id: 1, name: 'Ünï', at, tags }])
    assert.deepEqual(await ask(text, 2, null, undefined, []), [{ id: 2, name: null, at: null, tags: [] }])
    assert.deepEqual(await database.query('select * from run order by id'), await ask('select * from run order by id'))
  })

  test('that are asked at once, in a transaction or not, get their own answers', async () => {
    const texts = Array.from({ length: 20 }, (_, index) => `select $1::integer + ${index} as sum`)
    const sums = texts.map((_, index) => [{ sum: 100 + index }])
    assert.deepEqual(await Promise.all(texts.map(text => ask(text, 100))), sums)
    const inside = await database.transaction(tx => Promise.all(texts.map(text => tx.query({ text, values: [100] }))))
    assert.deepEqual(inside, sums)
  })

  test('fail with the database’s code, and nothing is left of it', async () => {
    const insert = { text: 'insert into run (id) values ($1)', values: [7] }
    const twice = database.transaction(async tx => {
      await tx.query(insert)
      await tx.query(insert)
    })
    await assert.rejects(twice, { code: '23505' })
    assert.deepEqual(await ask('select id from run where id = $1', 7), [])
    await assert.rejects(ask('select nothing'), { code: '42703' })
    assert.deepEqual(await ask('select 1 as one'), [{ one: 1 }])
  })

  test('follow the schema', async () => {
    const text = 'select * from run where id = 1'
    for (let use = 0; use < 10; use++) await ask(text)
    await database.script('alter table run add column pace integer default 5')
    assert.partialDeepStrictEqual(await ask(text), [{ pace: 5 }])
    await database.transaction(async tx => {
      await tx.script('alter table run drop column pace')
      assert(!('pace' in ((await tx.query({ text, values: [] }))[0] ?? {})))
    })
  })

  test('whose answer would have other columns fail once, and then follow; a transaction that is over takes none', async () => {
    const text = 'select * from run where id = 2'
    for (let use = 0; use < 10; use++) await ask(text)
    await database.query('alter table run add column pulse integer default 150')
    await assert.rejects(ask(text), { code: '0A000' })
    assert.partialDeepStrictEqual(await ask(text), [{ pulse: 150 }])
    const over = await database.transaction(tx => Promise.resolve(tx))
    await assert.rejects(over.query({ text, values: [] }), /transaction is over/)
  })

  test('are planned anew after a hundred uses, because tables grow', async () => {
    const text = 'select name from run where id = $1'
    for (let use = 0; use < 250; use++) await ask(text, use)
    const [kept] = await ask<{ uses: number }>(
      'select generic_plans + custom_plans as uses from pg_prepared_statements where statement = $1',
      text,
    )
    assert.equal(kept?.uses, 50)
  })
})
