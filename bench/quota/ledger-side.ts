// Permits of the ledger beside bare inserts of one row into the same store, where every commit is on the disk before it is
// answered; and permits on a PostgreSQL server, which other processes share.
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { migrate, openPglite, openPostgres, type Database } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { idMaker } from '../../src/kernel/ids.ts'
import { secure } from '../../src/kernel/random.ts'
import { LedgerBudget } from '../../src/quota/budget-ledger.ts'
import { Limiter } from '../../src/quota/limiter.ts'
import { borrowPostgres } from '../../test/servers/borrowed.ts'
import { testFolder } from '../../test/stores.ts'
import { awayFromEdges, need, settings, spent, taking } from './limiter.ts'
import { race, type Work } from './race.ts'

const clock = new SystemClock()
const COURSE = { inFlight: 1, rounds: 5, roundMs: 1_000 }

type Contestants = Record<'take' | 'takeAndSettle' | 'insert', Work>

export async function embeddedPermits(): Promise<Record<keyof Contestants, number>> {
  await awayFromEdges(60_000)
  const folder = testFolder()
  const database = await openPglite({ folder: join(folder.path, 'store') })
  try {
    return await race(await contestants(database), COURSE)
  } finally {
    await database.close()
    folder.remove()
  }
}

export interface ServerPermits {
  readonly alone: Record<keyof Contestants, number>
  readonly sixteen: Record<keyof Contestants, number>
}

export async function postgresPermits(): Promise<ServerPermits> {
  await awayFromEdges(60_000)
  const server = await borrowPostgres({ fsync: true })
  try {
    const database = await openPostgres({ url: server.url, clock, connections: 16 })
    try {
      const works = await contestants(database)
      return {
        alone: await race(works, { ...COURSE, rounds: 3 }),
        sixteen: await race(works, { ...COURSE, inFlight: 16, rounds: 3 }),
      }
    } finally {
      await database.close()
    }
  } finally {
    await server.stop()
  }
}

async function contestants(database: Database): Promise<Contestants> {
  await migrate(database)
  await database.query('create table bench (id integer primary key, word text not null)')
  const athleteId = randomUUID()
  await database.query("insert into athlete (id, name, created_at) values ($1, 'Ada', now())", [athleteId])
  const limiter = new Limiter(new LedgerBudget({ database, clock }), settings, 100)
  const take = taking(limiter, idMaker(clock, secure()), { ...need, athleteId })
  const takeAndSettle = async (): Promise<void> => {
    await limiter.settle(await take(), spent)
  }
  await takeAndSettle()
  let rows = 0
  return { take, takeAndSettle, insert: () => database.query('insert into bench values ($1, $2)', [rows++, 'word']) }
}
