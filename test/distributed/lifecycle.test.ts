import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { lifecycleContract } from '../contract/lifecycle.contract.ts'

lifecycleContract('PostgreSQL', async () => {
  const url = process.env.PACELINE_TEST_POSTGRES_URL
  assert(url, 'PACELINE_TEST_POSTGRES_URL must name a PostgreSQL server; npm test starts one')
  const schema = `lifecycle_${randomUUID().replaceAll('-', '')}`
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(`create schema ${schema}`)
  await client.query(`set search_path = ${schema}`)
  return {
    exec: sql => client.query(sql),
    close: async () => {
      await client.query(`drop schema ${schema} cascade`)
      await client.end()
    },
  }
})
