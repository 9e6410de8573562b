// Whose work is next, on PostgreSQL: where many claim at once, notifications cross processes, and rows are found by an index.
import { after, test } from 'node:test'
import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { migrate, openPostgres, type Database } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { Lanes } from '../../src/work/lanes.ts'
import { importsGatedContract } from '../contract/imports-gated.contract.ts'
import { workFairnessContract } from '../contract/work-fairness.contract.ts'
import { workGatesContract } from '../contract/work-gates.contract.ts'
import { workPlansContract } from '../contract/work-plans.contract.ts'
import { workWorkersContract } from '../contract/work-workers.contract.ts'
import { workContract } from '../contract/work.contract.ts'
import { freshDatabase } from './fresh-database.ts'

const fresh = freshDatabase()
after(() => fresh.drop())

const open = async (): Promise<Database> => await openPostgres({ url: await fresh.url(), clock: new SystemClock() })
const contracts = [
  workContract,
  workFairnessContract,
  workGatesContract,
  workWorkersContract,
  workPlansContract,
  importsGatedContract,
]
for (const contract of contracts) contract('postgres', open)

test('lanes that are offered by many at once, in any order, block nobody', async () => {
  const database = await open()
  await migrate(database)
  const clock = new SystemClock()
  const athletes = Array.from({ length: 60 }, () => randomUUID())
  await database.query("insert into athlete (id, name, created_at) select id, 'Ada', now() from unnest($1::uuid[]) as id", [
    athletes,
  ])
  const lanes = new Lanes({ database, clock, owner: 'test' })
  const shuffled = (round: number): string[] => athletes.toSorted((a, b) => (hash(a, round) < hash(b, round) ? -1 : 1))
  const hash = (id: string, round: number): string => createHash('sha256').update(`${id}${round}`).digest('hex')
  const offers = Array.from({ length: 200 }, async (_, round) => {
    const offer = { vendor: 'strava', callClass: 'backfill', athleteIds: shuffled(round), at: clock.now() - round } as const
    await lanes.offer(database, offer)
    await lanes.promote('strava')
  })
  assert.deepEqual(
    (await Promise.allSettled(offers)).filter(({ status }) => status === 'rejected'),
    [],
  )
  await database.close()
})
