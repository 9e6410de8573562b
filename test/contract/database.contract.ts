// The laws of the Database port, run against every adapter. A difference is declared with its reason, and printed.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import type { Database } from '../../src/db/db.ts'
import { migrate, type Migration } from '../../src/db/db.ts'
import { eventually, until } from '../waiting.ts'

export interface DatabaseTraits {
  /** How to open one that ends a statement after a second, or why a statement is never ended for taking too long. */
  readonly endsSlowStatements: (() => Promise<Database>) | string
  /** true, or why an advisory lock never makes anyone wait. */
  readonly advisoryLocksExclude: true | string
}

export function databaseContract(name: string, open: () => Promise<Database>, traits: DatabaseTraits): void {
  describe(`database: ${name}`, () => {
    let db: Database
    before(async () => {
      db = await open()
      await db.script('create table thing (id integer primary key, word text); create table other (id integer)')
    })
    after(async () => {
      await db.close()
    })

    valueLaws(() => db)
    transactionLaws(() => db)
    listenLaws(() => db)
    migrationLaws(() => db)

    test('a refused statement keeps its SQLSTATE and does no harm to the next', async () => {
      await assert.rejects(db.query('select * from nowhere'), { code: '42P01' })
      await assert.rejects(db.query('insert into thing values (1, null), (1, null)'), { code: '23505' })
      assert.deepEqual(await db.query('select 1 as one'), [{ one: 1 }])
    })

    test('a statement comes with its values beside it or in it, also in a transaction', async () => {
      const query = { text: 'select $1::text || $2::text as word', values: ['pace', 'line'] }
      const asked = [await db.query(query), await db.query(query.text, query.values)]
      const inside = await db.transaction(async tx => [await tx.query(query), await tx.query(query.text, query.values)])
      for (const rows of [...asked, ...inside]) assert.deepEqual(rows, [{ word: 'paceline' }])
    })

    test('a script runs several statements and gives all rows', async () => {
      assert.deepEqual(await db.script('select 1 as n; select 2 as n'), [{ n: 1 }, { n: 2 }])
    })

    test('a failed script with its own transaction leaves no transaction open', async () => {
      await assert.rejects(db.script('begin; insert into other values (1); select * from nowhere; commit'), { code: '42P01' })
      assert.deepEqual(await db.query('select count(*) from other'), [{ count: 0 }])
    })

    test('a failed script does no harm to those who wait for their turn behind it', async () => {
      const failed = db.script('begin; select 1/0; commit')
      const others = [db.query('select 1 as one'), db.transaction(async tx => await tx.query('select 1 as one'))]
      await assert.rejects(failed, { code: '22012' })
      assert.deepEqual(await Promise.all(others), [[{ one: 1 }], [{ one: 1 }]])
    })

    test('a statement over its time is ended and told', async t => {
      if (typeof traits.endsSlowStatements === 'string') {
        t.diagnostic(`declared difference: ${traits.endsSlowStatements}`)
        assert.deepEqual(await db.query('select 1 as slept from pg_sleep(0.01)'), [{ slept: 1 }])
        return
      }
      const strict = await traits.endsSlowStatements()
      await assert.rejects(strict.query('select pg_sleep(3600)'), { code: 'PACE_DATABASE_TIMEOUT' })
      await eventually(async () => assert.deepEqual(await strict.query('select 1 as one'), [{ one: 1 }]))
      await strict.close()
    })

    test('an advisory lock keeps a second transaction waiting', async t => {
      if (traits.advisoryLocksExclude !== true) t.diagnostic(`declared difference: ${traits.advisoryLocksExclude}`)
      const order: string[] = []
      const hold = async (who: string): Promise<void> => {
        await db.transaction(async tx => {
          await tx.query('select pg_advisory_xact_lock(5)')
          order.push(`${who} in`)
          await wait(20)
          order.push(`${who} out`)
        })
      }
      await Promise.all([hold('a'), hold('b')])
      assert.match(order.join(' '), /^(a in a out b in b out|b in b out a in a out)$/)
    })

    test('after close every call is told that the database is not there, and close may be repeated', async () => {
      const own = await open()
      await Promise.all([own.close(), own.close()])
      await own.close()
      await assert.rejects(own.query('select 1'), { code: 'PACE_DATABASE_UNAVAILABLE' })
      await assert.rejects(
        own.transaction(async tx => await tx.query('select 1')),
        { code: 'PACE_DATABASE_UNAVAILABLE' },
      )
      await assert.rejects(
        own.listen('news', () => undefined),
        { code: 'PACE_DATABASE_UNAVAILABLE' },
      )
    })
  })
}

function valueLaws(db: () => Database): void {
  test('values come back in one manner', async () => {
    const [row] = await db()
      .query(`select 42::int8 as small, 9007199254740993::int8 as big, count(*) as counted, date '2025-03-30' as day,
      timestamptz '2025-03-30T01:30:00Z' as instant, '\\x00ff'::bytea as bytes, 1.50::numeric as exact, interval '90 minutes' as span,
      '{"a":[1,null]}'::jsonb as doc, array['x','y'] as words, true as yes, null as nothing, 1.5::float8 as real`)
    assert.deepEqual(row, {
      small: 42,
      big: 9007199254740993n,
      counted: 1,
      day: '2025-03-30',
      instant: new Date('2025-03-30T01:30:00Z'),
      bytes: Buffer.from([0, 255]),
      exact: '1.50',
      span: '01:30:00',
      doc: { a: [1, null] },
      words: ['x', 'y'],
      yes: true,
      nothing: null,
      real: 1.5,
    })
  })

  test('values inside arrays come back in the same manner', async () => {
    const [row] = await db().query(`select array[42, 9007199254740993]::int8[] as whole, array['2025-03-30']::date[] as days,
      array[1.50, 2]::numeric[] as exact, array['90 minutes']::interval[] as spans`)
    assert.deepEqual(row, { whole: [42, 9007199254740993n], days: ['2025-03-30'], exact: ['1.50', '2'], spans: ['01:30:00'] })
  })

  test('an instant of any year is the instant it was, also inside arrays; the infinite ones are numbers', async () => {
    const instants: [said: string, at: unknown][] = [
      ['0001-01-01T00:00:00Z', new Date('0001-01-01T00:00:00Z')],
      ['0099-12-31T23:59:59.999Z', new Date('0099-12-31T23:59:59.999Z')],
      ['0999-06-01T12:00:00.5Z', new Date('0999-06-01T12:00:00.500Z')],
      ['0044-03-15 12:00:00+00 BC', new Date('-000043-03-15T12:00:00Z')],
      ['12026-01-01T00:00:00Z', new Date('+012026-01-01T00:00:00Z')],
      ['infinity', Infinity],
      ['-infinity', -Infinity],
    ]
    for (const [said, at] of instants) {
      const rows = await db().query('select $1::text::timestamptz as at, array[$1::text::timestamptz] as all', [said])
      assert.deepEqual(rows, [{ at, all: [at] }], said)
    }
  })

  test('an instant that goes in as a Date comes back, from the year 1 to 9999, in whichever zone the machine is', async () => {
    const years = fc.date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true })
    const zone = process.env['TZ']
    try {
      // Its offset had seconds before 1893.
      process.env['TZ'] = 'Europe/Berlin'
      await fc.assert(
        fc.asyncProperty(years, async at => {
          assert.deepEqual(await db().query('select $1::timestamptz as at', [at]), [{ at }])
        }),
        { numRuns: 50, seed: 1 },
      )
    } finally {
      if (zone === undefined) delete process.env['TZ']
      else process.env['TZ'] = zone
    }
  })

  test('values go in in one manner', async () => {
    const [row] = await db().query(
      'select $1::text as word, $2::int8 as n, $3::timestamptz as at, $4::bytea as bytes, $5::text::jsonb as doc, $6::text[] as words, $7::uuid as id, $8::text as nothing',
      [
        'ünï',
        7,
        new Date(1_700_000_000_123),
        Buffer.from('ab'),
        JSON.stringify({ deep: ['"', '\\'] }),
        ['a"b', 'c,d'],
        '018f3d3e-0000-7000-8000-000000000000',
        null,
      ],
    )
    assert.deepEqual(row, {
      word: 'ünï',
      n: 7,
      at: new Date(1_700_000_000_123),
      bytes: Buffer.from('ab'),
      doc: { deep: ['"', '\\'] },
      words: ['a"b', 'c,d'],
      id: '018f3d3e-0000-7000-8000-000000000000',
      nothing: null,
    })
  })

  test('any text and any JSON survives the way there and back', async () => {
    const text = fc.string({ unit: 'grapheme' }).map(s => s.replaceAll('\0', ''))
    await fc.assert(
      fc.asyncProperty(text, fc.jsonValue({ maxDepth: 3 }), async (word, value) => {
        const sent = JSON.stringify(value).replaceAll('\\u0000', '')
        const [row] = await db().query('select $1::text as word, $2::text::jsonb as doc', [word, sent])
        assert.equal(row?.['word'], word)
        assert.deepEqual(row?.['doc'], JSON.parse(sent.replaceAll('-0', '0')))
      }),
      { numRuns: 50, seed: 1 },
    )
  })
}

function transactionLaws(db: () => Database): void {
  test('a transaction commits what it did, and its result is given', async () => {
    const given = await db().transaction(async tx => {
      await tx.query("insert into thing values (10, 'kept')")
      return 'done'
    })
    assert.equal(given, 'done')
    assert.deepEqual(await db().query('select word from thing where id = 10'), [{ word: 'kept' }])
  })

  test('a transaction that throws changes nothing and passes the error on', async () => {
    const failed = db().transaction(async tx => {
      await tx.query("insert into thing values (11, 'gone')")
      throw new Error('no')
    })
    await assert.rejects(failed, { message: 'no' })
    assert.deepEqual(await db().query('select * from thing where id = 11'), [])
  })

  test('inside a transaction the outer handle is refused at once', async () => {
    for (const misuse of [() => db().query('select 1'), () => db().script('select 1'), () => db().transaction(async () => 1)]) {
      await assert.rejects(
        db().transaction(async () => await misuse()),
        /use its own handle/,
      )
    }
  })

  test('work that a transaction started and that outlives it may use the database', async () => {
    let later: Promise<unknown> = Promise.resolve()
    await db().transaction(async tx => {
      await tx.query('select 1')
      later = wait(20).then(() => db().query('select 1 as one'))
    })
    assert.deepEqual(await later, [{ one: 1 }])
  })

  test('transactions at the same time do not lose an update', async () => {
    await db().query("insert into thing values (12, '0')")
    const raise = async (): Promise<unknown> =>
      await db().transaction(async tx => {
        const [row] = await tx.query<{ word: string }>('select word from thing where id = 12 for update')
        return await tx.query('update thing set word = $1 where id = 12', [String(Number(row?.word) + 1)])
      })
    await Promise.all(Array.from({ length: 20 }, raise))
    assert.deepEqual(await db().query('select word from thing where id = 12'), [{ word: '20' }])
  })
}

function listenLaws(db: () => Database): void {
  test('a listener hears what is told on its channel, in order, until it stops', async () => {
    const heard: (string | undefined)[] = []
    const stop = await db().listen('news', payload => heard.push(payload))
    await db().notify('news', 'one')
    await db().notify('elsewhere', 'no')
    await db().notify('news', 'two')
    await until(() => heard.length >= 2)
    await stop()
    await db().notify('news', 'three')
    await wait(50)
    assert.deepEqual(heard, ['one', 'two'])
  })

  test('what a transaction tells is heard after its commit, and never after a rollback', async () => {
    const heard: (string | undefined)[] = []
    const stop = await db().listen('news', payload => heard.push(payload))
    await assert.rejects(
      db().transaction(async tx => {
        await tx.notify('news', 'never')
        throw new Error('back')
      }),
    )
    await db().transaction(async tx => {
      await tx.notify('news', 'committed')
      await wait(50)
      assert.deepEqual(heard, [])
    })
    await until(() => heard.length > 0)
    await stop()
    assert.deepEqual(heard, ['committed'])
  })

  test('a listener may ask the database, also when a transaction told it', async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>()
    const stop = await db().listen('news', () => {
      resolve(db().query('select 1 as one'))
    })
    await db().transaction(tx => tx.notify('news', 'told'))
    assert.deepEqual(await promise, [{ one: 1 }])
    await stop()
  })

  test('each listener is stopped for itself, however often, and one that throws harms nobody', async () => {
    const heard: string[] = []
    const stopA = await db().listen('shared', () => heard.push('a'))
    const stopThrowing = await db().listen('shared', () => {
      throw new Error('a listener of no use')
    })
    const stopB = await db().listen('shared', () => heard.push('b'))
    await stopA()
    await stopA()
    await db().notify('shared', '')
    await until(() => heard.length > 0)
    await Promise.all([stopB(), stopThrowing()])
    assert.deepEqual(heard, ['b'])
  })

  test('a channel with a smuggled statement is refused', async () => {
    await assert.rejects(db().listen('news; drop table thing', () => undefined))
  })
}

const step = (version: number, text: string, hash = `h${version}`): Migration => ({
  version,
  name: `step-${version}`,
  hash,
  text,
})

function migrationLaws(db: () => Database): void {
  const first = step(1, 'create table one (id integer)')
  const second = step(2, 'create table two (id integer); insert into two values (2)')

  test('migrations are applied once and in order', async () => {
    assert.deepEqual(await migrate(db(), [first]), ['step-1'])
    assert.deepEqual(await migrate(db(), [first, second]), ['step-2'])
    assert.deepEqual(await migrate(db(), [first, second]), [])
    assert.deepEqual(await db().query('select id from two'), [{ id: 2 }])
  })

  test('a migration that fails leaves nothing behind, not even those before it', async () => {
    const third = step(3, 'create table three (id integer)')
    const broken = step(4, 'create table four (id integer); select * from nowhere')
    await assert.rejects(migrate(db(), [first, second, third, broken]), { code: '42P01' })
    assert.deepEqual(await db().query("select to_regclass('three') as three, to_regclass('four') as four"), [
      { three: null, four: null },
    ])
  })

  test('a migration edited after it was applied stops the start', async () => {
    await assert.rejects(migrate(db(), [step(1, 'create table one (id bigint)', 'other'), second]), {
      code: 'PACE_MIGRATION_CHANGED',
      message: /Migration 1 \(step-1\)/,
    })
  })

  test('a store of a newer Paceline stops the start', async () => {
    await assert.rejects(migrate(db(), [first]), { code: 'PACE_MIGRATION_UNKNOWN', message: /migration 2 \(step-2\)/ })
  })
}
