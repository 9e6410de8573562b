import { test } from 'node:test'
import { eachFetchedOnce } from './streams-workers.ts'

test('eight workers in one process fetch two hundred activities once each', async () => {
  await eachFetchedOnce(200)
})
