// The full form: a thousand activities.
import { test } from 'node:test'
import { eachFetchedOnce } from '../simulation/streams-workers.ts'

test('eight workers in one process fetch a thousand activities once each', async () => {
  await eachFetchedOnce(1_000)
})
