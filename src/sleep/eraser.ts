// Deletes a vendor's nights of an athlete. Where another vendor has a night of the same day, that one takes over and is told.
import { loadEraser, loadQueries, type Eraser } from '../db/db.ts'
import { settleWithout } from './sleep-store.ts'

const heard = loadEraser(new URL('heard-eraser.sql', import.meta.url), { sleep_heard: 'uncounted' }, ['sleep_heard'])

const sql = loadQueries(new URL('eraser.sql', import.meta.url), {
  erasable: ['athleteId', 'vendor', 'before', 'limit'],
  erase: ['athleteId', 'vendor', 'dates'],
  due: ['vendor', 'before'],
})

export const sleepEraser: Eraser = {
  tables: ['sleep_record', 'sleep_data', ...heard.tables],
  due: async (database, what) => {
    const rows = await database.query<{ athlete_id: string }>(sql.due(what))
    return [...rows.map(row => row.athlete_id), ...(await heard.due(database, what))]
  },
  erase: async (tx, step, limit) => {
    const { athleteId, vendor, before, now } = step
    const found = await tx.query<{ date: string }>(sql.erasable({ athleteId, vendor, before, limit }))
    const dates = found.map(({ date }) => date)
    let erased = 0
    if (dates.length > 0)
      await settleWithout(tx, { nights: dates.map(date => ({ user_id: athleteId, date })), now }, async () => {
        erased = (await tx.query(sql.erase({ athleteId, vendor, dates }))).length
      })
    const rest = await heard.erase(tx, step, limit)
    return { counts: { sleep_data: erased, ...rest.counts }, hasMore: dates.length >= limit || rest.hasMore }
  },
}
