// Every import says when it will be done: by its vendor's budget, beside the imports of others.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { receiving, worlds } from '../contract/imports-fixture.ts'
import { MINUTE_MS } from '../durations.ts'
import type { Process, WorldOptions } from '../import-world.ts'
import { openMigrated } from '../stores.ts'

interface Scene extends WorldOptions {
  readonly athletes: number
  readonly latencyMs: number
  /** How long it takes at least. */
  readonly leastMs: number
}

const HISTORY = { tick: ['HISTORICAL_DATA_EXPORT'] }
const YEARS = { activities: 0, nights: 730, latencyMs: 400 } as const
const SCENES: readonly Scene[] = [
  { vendor: 'oura', ...YEARS, athletes: 1, leastMs: 10_000 },
  // 47 calls a minute for all of them.
  { vendor: 'whoop', ...YEARS, athletes: 6, leastMs: 4 * MINUTE_MS },
  { vendor: 'foursquare', activities: 0, checkinDays: 5_000, latencyMs: 5_000, athletes: 2, leastMs: 20_000 },
  // 47 days a minute, thirty a call.
  { vendor: 'garmin', activities: 40, retentionDays: 400, latencyMs: 400, athletes: 1, leastMs: 40 * MINUTE_MS },
]
/** Until everybody was served once: who has not begun is unknown. */
const BEGUN_MS = 8_000
/** Of what is left; two calls beside. */
const ERROR_MAX = 0.1

const offBy = (at: number, eta: number, endedAt: number): string =>
  `${((eta - endedAt) / 1_000).toFixed(1)} s of ${((endedAt - at) / 1_000).toFixed(1)}`

describe('the end of an import is foretold', () => {
  const world = worlds(openMigrated)

  for (const { athletes, leastMs, ...options } of SCENES) {
    test(`${options.vendor}, ${athletes} at a time`, async t => {
      const the = await world(options)
      await the.run(async () => {
        const process = the.process()
        if (options.vendor === 'garmin') receiving(the, process)
        await process.start()
        for (let athlete = 0; athlete < athletes; athlete++) {
          if (athlete > 0) the.simulator.control.addAthlete({ activities: 0, nights: options.nights ?? 1 })
          await the.connect(process, HISTORY)
        }
        const foretold = await foretellings(process)
        const [ended] = await the.database.query<{ at: Date }>(
          'select finished_at as at from import_jobs where athlete_id = $1',
          [the.athleteId],
        )
        await process.stop()
        const endedAt = ended?.at.getTime() ?? 0
        t.diagnostic(`${foretold.length} forecasts, off by ${foretold.map(({ at, eta }) => offBy(at, eta, endedAt)).join(', ')}`)
        assert(endedAt - (foretold[0]?.at ?? endedAt) >= leastMs, 'the budget holds it back')
        const grace = 2 * options.latencyMs
        for (const { at, eta } of foretold)
          assert(Math.abs(eta - endedAt) <= ERROR_MAX * (endedAt - at) + grace, offBy(at, eta, endedAt))
      })

      /** Each time a part of what was left has passed. */
      async function foretellings(process: Process): Promise<{ at: number; eta: number }[]> {
        const found: { at: number; eta: number }[] = []
        for (let waitMs = BEGUN_MS; ; waitMs = Math.max(options.latencyMs, ((found.at(-1)?.eta ?? 0) - the.clock.now()) / 4)) {
          await the.clock.sleep(waitMs)
          const { job, eta } = await the.newest(process)
          if (job.status === 'completed') return found
          assert(eta !== undefined, `${job.status}: ${job.error ?? job.pause ?? ''}`)
          found.push({ at: the.clock.now(), eta })
        }
      }
    })
  }
})
