// Nights arrive over HTTP while the servers under the whole program go away and come back, and the program itself is killed. Whatever was
// answered with 200 must end as a row; what was not is sent again under the same key, until it is.
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { TestServer } from '../servers/server.ts'
import { NORMALIZED, startStranger } from '../stranger.ts'
import { until } from '../waiting.ts'
import { DURABLE, installSleep, type SleepInstallation } from './sleep-installation.ts'

export interface LoadPlan {
  readonly nights: number
  /** How often each server goes away, and the program too. */
  readonly rounds: number
  readonly postgres: TestServer
  readonly nats: TestServer
}

const AT_ONCE = 12

export async function loadedSleep(t: TestContext, plan: LoadPlan): Promise<void> {
  await using opened = new AsyncDisposableStack()
  const the = await installSleep(plan.postgres.url, plan.nats.url)
  opened.defer(() => the.stop())
  const load = new Load(the, plan.nights)
  await Promise.all([load.run(), disturb(the, load, plan)])
  const stranger = await startStranger(plan.nats.url)
  opened.defer(() => stranger.leave())
  await until(() => stranger.hasDone('AA_CORE_HOT', DURABLE))
  await until(async () => (await the.database.query('select from outbox')).length === 0)
  await assertWhole(the, plan)
  const found = await stranger.read('AA_CORE_HOT')
  const told = found.filter(({ subject }) => subject === NORMALIZED).map(({ data }) => personIn(data))
  assert.equal(new Set(told).size, plan.nights)
  // An outage uses up no deliveries: the consumer waits.
  assert.deepEqual(await stranger.read('AA_DLQ'), [])
  t.diagnostic(`${plan.nights} nights, ${load.repeated} of them sent again, ${told.length} told`)
}

class Load {
  readonly #the: SleepInstallation
  readonly #nights: number
  #begun = 0
  accepted = 0
  repeated = 0

  constructor(the: SleepInstallation, nights: number) {
    this.#the = the
    this.#nights = nights
  }

  async run(): Promise<void> {
    await Promise.all(Array.from({ length: AT_ONCE }, () => this.#send()))
  }

  async #send(): Promise<void> {
    while (this.#begun < this.#nights) {
      this.#begun += 1
      await this.#until200(personOf(this.#begun))
      this.accepted += 1
    }
  }

  /** Every other one has a key; without it a repetition is another event about the same night. */
  async #until200(userId: string): Promise<void> {
    const night = {
      userId,
      date: '2025-10-02',
      durationMinutes: 420,
      capturedAt: '2025-10-02T08:30:00Z',
      raw: { source: 'oura' },
    }
    const key = Number(userId.slice(1)) % 2 === 0 ? userId : undefined
    let tries = 0
    await until(async () => {
      tries += 1
      // A connection that breaks is an answer that never came.
      const answer = await this.#the.ingest(night, key).catch(() => undefined)
      assert([undefined, 200, 500, 503].includes(answer?.status), JSON.stringify(answer))
      return answer?.status === 200
    })
    if (tries > 1) this.repeated += 1
  }
}

const personOf = (n: number): string => `p${n}`

const personIn = (data: Buffer): string => (JSON.parse(data.toString()) as { record: { userId: string } }).record.userId

async function disturb(the: SleepInstallation, load: Load, { nights, rounds, postgres, nats }: LoadPlan): Promise<void> {
  const disturbances = [
    async () => {
      await postgres.halt()
      await postgres.restart()
    },
    async () => {
      await nats.kill()
      await nats.restart()
    },
    async () => {
      await the.server().stop('SIGKILL')
      await the.restart()
    },
  ]
  const all = Array.from({ length: rounds }, () => disturbances).flat()
  for (const [n, go] of all.entries()) {
    await until(() => load.accepted >= (nights * (n + 1)) / (all.length + 1))
    await go()
  }
}

async function assertWhole({ database }: SleepInstallation, { nights }: LoadPlan): Promise<void> {
  const rows = await database.query<{ user_id: string }>('select user_id from sleep_data')
  assert.equal(rows.length, nights)
  assert.deepEqual(new Set(rows.map(row => row.user_id)), new Set(Array.from({ length: nights }, (_, n) => personOf(n + 1))))
}
