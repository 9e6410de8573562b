// Makes many calls at once over one connection, as one of several processes on the same PostgreSQL, and prints how they ended.
// argv: PostgreSQL URL, simulator URL, connection id, secret key (base64), how many. Begins when a line comes in, so that
// several processes begin together.
import { once } from 'node:events'
import { Connections, SecretBox } from '../../src/accounts/accounts.ts'
import { Calls } from '../../src/calls/calls.ts'
import { openPostgres } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { idMaker } from '../../src/kernel/ids.ts'
import { secure } from '../../src/kernel/random.ts'
import { Slots } from '../../src/kernel/slots.ts'
import { unmetered } from '../../src/quota/quota.ts'
import { openVendor } from '../../src/vendors/vendors.ts'

const [, , url = '', simulator = '', connectionId = '', key = '', count = ''] = process.argv
const [clock, random] = [new SystemClock(), secure()]
const database = await openPostgres({ url, clock })
const vendor = openVendor('strava', { clientId: '1', clientSecret: 'secret', baseUrl: `${simulator}/strava` })
const connections = new Connections({
  database,
  clock,
  random,
  newId: idMaker(clock, random),
  calls: new Calls({ fetch, clock, random, permits: unmetered, slots: () => new Slots(Number(count)) }),
  box: new SecretBox([Buffer.from(key, 'base64')], random),
  vendor: () => vendor,
  publicUrl: () => 'http://paceline.test',
})
process.stdout.write('ready\n')
await once(process.stdin, 'data')
const call = async (): Promise<string> =>
  (await connections.call(connectionId, vendor.endpoints.activityList({}), { callClass: 'live' })).outcome
const outcomes = await Promise.all(Array.from({ length: Number(count) }, call))
process.stdout.write(`${JSON.stringify(outcomes)}\n`)
await database.close()
process.stdin.destroy()
