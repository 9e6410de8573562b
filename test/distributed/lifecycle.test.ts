import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { lifecycleContract } from '../contract/lifecycle.contract.ts'
import { sharedUrl } from '../servers/shared.ts'

const url = sharedUrl('postgres')

lifecycleContract('PostgreSQL', async () => {
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
