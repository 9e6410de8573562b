import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { PartFailure } from './http/http.ts'
import { vendorParts } from './servers.ts'

describe('the part strava', () => {
  type Gates = Parameters<typeof vendorParts>[1]
  const check = async (gates: Gates): Promise<void> => {
    const [strava] = vendorParts(['oura', 'strava'], gates)
    assert.equal(strava?.name, 'strava')
    await strava.check()
  }

  test('fails in words while Strava has the application switched off', async () => {
    const failure = new PartFailure('inactive', 'Strava has switched this application off: its owner needs a subscription.')
    await assert.rejects(
      check(() => Promise.resolve([{ vendor: 'strava', cause: 'inactive' }])),
      failure,
    )
  })

  test('is well when nothing is held up, or for another cause, or at another vendor', async () => {
    await check(() => Promise.resolve([]))
    await check(() =>
      Promise.resolve([
        { vendor: 'strava', cause: 'limit' },
        { vendor: 'oura', cause: 'inactive' },
      ]),
    )
  })

  test('is asked only where Strava is used', () => {
    assert.deepEqual(
      vendorParts(['oura'], () => Promise.resolve([])),
      [],
    )
  })

  test('leaves a database that is away to the part that is named for it', async () => {
    await check(() => Promise.reject(new Error('the database is away')))
  })
})
