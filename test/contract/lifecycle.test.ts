import { openMemory } from '../stores.ts'
import { lifecycleContract } from './lifecycle.contract.ts'

lifecycleContract('PGlite', async () => {
  const database = await openMemory()
  return { exec: sql => database.script(sql), close: () => database.close() }
})
