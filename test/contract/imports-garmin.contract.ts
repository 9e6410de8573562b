// Garmin's history when it does not come as asked: a consent withdrawn in between, and a vendor that says it has sent everything before.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Database } from '../../src/db/db.ts'
import type { ImportView } from '../../src/imports/imports.ts'
import { DAY_MS } from '../durations.ts'
import type { ImportWorld, Process, WorldOptions } from '../import-world.ts'
import { eventsOf, lastSyncOf, receiving, stored, worlds } from './imports-fixture.ts'

const BACKFILL = /\/backfill\//
const HISTORY = { tick: ['HISTORICAL_DATA_EXPORT'] }
const options: WorldOptions = { vendor: 'garmin', activities: 24, nights: 40, limits: { garmin: [10_000, 100_000] } }

/** Garmin's own end of the history, after so many requests: five years of asking would tell nothing more. */
function endingAfter(the: ImportWorld, requests: number, otherwise = (response: Response): Response => response): void {
  const refusal = (): Response => Response.json({ errorMessage: 'start 2021-03-10 before min start time' }, { status: 400 })
  the.onItsWay = (path, response) => {
    if (!BACKFILL.test(path)) return Promise.resolve(response)
    return Promise.resolve(the.requests(BACKFILL).length > requests ? refusal() : otherwise(response))
  }
}

const duplicate = (): Response => Response.json({ errorMessage: 'Duplicate backfill request' }, { status: 409 })

/** Webhooks of this type do not arrive: who withdrew without our hearing of it keeps their data here. */
function losing(the: ImportWorld, type: string): void {
  const receive = the.onWebhook
  the.onWebhook = async request => {
    if (!(await request.clone().text()).includes(`"${type}"`)) await receive(request)
  }
}

/** Starts anew, or finds what the sweep has started. */
async function started(the: ImportWorld, process: Process): Promise<ImportView> {
  await process.start()
  await process.imports.start(the.athleteId, 'garmin', { type: 'full' })
  return await the.untilDone(process)
}

/** Days on which the athlete trains and sleeps while nobody is told. */
async function daysPass({ clock, simulator }: ImportWorld, days: number): Promise<void> {
  for (let day = 0; day < days; day++) {
    await clock.sleep(DAY_MS)
    simulator.control.addActivity()
    simulator.control.addSleep('garmin')
  }
}

export function importsGarminContract(name: string, open: () => Promise<Database>): void {
  describe(`Garmin in trouble: ${name}`, () => {
    const world = worlds(open)

    test('an import that takes a failed one over also asks for what happened in between, whatever it stopped at', async () => {
      const the = await world(options)
      endingAfter(the, 24)
      // In the second range downwards, and in the first of those in between.
      const withdrawnAfter = new Set([4, 6])
      the.onAnswer = () => {
        if (withdrawnAfter.delete(the.requests(BACKFILL).length)) the.simulator.control.deauthorise('garmin')
      }
      await the.run(async () => {
        const process = the.process()
        receiving(the, process)
        losing(the, 'deregistrations')
        await the.connect(process, HISTORY)
        for (const days of [40, 5]) {
          assert.equal((await started(the, process)).job.status, 'failed')
          await process.stop()
          await daysPass(the, days)
          await the.consent(process.connections, the.athleteId, HISTORY)
        }
        const view = await started(the, process)
        await process.stop()
        assert.equal(view.message, 'Completed: 69 activities imported')
        assert.equal((await stored(the)).length, 69)
        // Of 85 nights; after five of them the athlete also slept by day.
        assert.equal(await eventsOf(the, 'athlete-ally.sleep.raw-received'), 90)
        assert.deepEqual(await lastSyncOf(the), view.job.startedAt)
      })
    })

    test('a history that it says it has sent before, and that is not here, is not complete', async () => {
      const the = await world(options)
      endingAfter(the, 6, duplicate)
      await the.run(async () => {
        const process = the.process()
        await the.connect(process, HISTORY)
        const view = await started(the, process)
        await process.stop()
        assert.equal(view.message, 'Completed: no new activities')
        assert.deepEqual(view.problems, [
          { externalId: 'history', reason: 'Garmin says that it has sent this history before, and it sends nothing twice' },
        ])
        assert.equal(await lastSyncOf(the), null)
      })
    })

    test('one that it sends again in part is', async () => {
      const the = await world(options)
      endingAfter(the, 6, response => (the.requests(BACKFILL).length === 1 ? response : duplicate()))
      await the.run(async () => {
        const process = the.process()
        receiving(the, process)
        await the.connect(process, HISTORY)
        const view = await started(the, process)
        await process.stop()
        assert.deepEqual(view.problems, [])
        assert.deepEqual(await lastSyncOf(the), view.job.startedAt)
      })
    })
  })
}
