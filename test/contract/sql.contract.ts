// Every `-- name:` block of the house is prepared against the migrated schema: a wrong column or type fails here, not at night. Its
// parameters have names, and the database finds as many as there are.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { blocksOf, positioned } from '../../src/db/queries.ts'
import type { Database } from '../../src/db/db.ts'

const files = globSync('src/**/*.sql', { exclude: ['src/db/migrations/**'] })

/** As in TypeScript, so that a value of the same name needs no second one. Not a number: a position says nothing. */
const NAME = /^[a-z][A-Za-z]*$/
const COUNT = "select cardinality(parameter_types) as count from pg_prepared_statements where name = 'block'"

export function sqlContract(name: string, openMigrated: () => Promise<Database>): void {
  describe(`SQL blocks on ${name}`, () => {
    let db: Database
    before(async () => {
      db = await openMigrated()
    })
    after(async () => {
      await db.close()
    })
    /** How many parameters the database finds. */
    const prepare = async (text: string): Promise<number | undefined> =>
      await db.transaction(async tx => {
        await tx.script(`prepare block as ${text}`)
        const [row] = await tx.query<{ count: number }>(COUNT)
        await tx.script('deallocate block')
        return row?.count
      })

    for (const file of files) {
      for (const [block, text] of blocksOf(readFileSync(file, 'utf8'))) {
        test(`${file} ${block} fits the schema`, async () => {
          const statement = positioned(text)
          for (const parameter of statement.parameters) assert.match(parameter, NAME)
          assert.equal(await prepare(statement.text), statement.parameters.length)
        })
      }
    }
    test('there are blocks, and a wrong one is seen', async () => {
      assert(files.length > 0)
      await assert.rejects(prepare('select nothing from athlete'), { code: '42703' })
      await assert.rejects(prepare('select $name'), { code: '42601' })
      assert.equal(await prepare('select $1::text, $2::text'), 2)
      for (const parameter of positioned('select $1, $Name, $a_name').parameters) assert.doesNotMatch(parameter, NAME)
    })
  })
}
