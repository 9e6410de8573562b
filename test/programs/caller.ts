// Makes many calls at once over one connection, as one of several processes on the same PostgreSQL, and prints how they ended.
// argv: PostgreSQL URL, simulator URL, connection id, secret key (base64), how many. Begins when a line comes in, so that
// several processes begin together.
import { once } from 'node:events'
import { openPostgres } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { Slots } from '../../src/kernel/slots.ts'
import { unmetered } from '../../src/quota/quota.ts'
import { roomsOn, SECRETS, vendorAt } from '../rooms.ts'

const [, , url = '', simulator = '', connectionId = '', key = '', count = ''] = process.argv
const clock = new SystemClock()
const database = await openPostgres({ url, clock })
const vendor = vendorAt('strava', `${simulator}/strava`)
const slots = new Slots(Number(count))
const { connections } = roomsOn({
  database,
  clock,
  secrets: { ...SECRETS, keys: [Buffer.from(key, 'base64')] },
  vendor: () => vendor,
  permits: unmetered,
  slots: () => slots,
})
process.stdout.write('ready\n')
await once(process.stdin, 'data')
const call = async (): Promise<string> =>
  (await connections.call(connectionId, vendor.endpoints.activityList({}), { callClass: 'live' })).outcome
const outcomes = await Promise.all(Array.from({ length: Number(count) }, call))
process.stdout.write(`${JSON.stringify(outcomes)}\n`)
await database.close()
process.stdin.destroy()
