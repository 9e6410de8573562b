// Over real sockets: what a network does to a call.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { SystemClock } from '../kernel/clock.ts'
import { seeded } from '../kernel/random.ts'
import { Slots } from '../kernel/slots.ts'
import { openVendor } from '../vendors/vendors.ts'
import { unmetered } from '../quota/quota.ts'
import { Calls, type CallOutcome } from './calls.ts'

const behaviours: Record<string, (socket: Socket) => void> = {
  resets: socket => socket.resetAndDestroy(),
  truncates: socket => socket.end('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n[{"id":'),
  garbles: socket => socket.end('this is not HTTP\r\n\r\n'),
  hangs: () => undefined,
  floods: socket => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`
    const pour = (): void => {
      while (socket.write(chunk));
    }
    socket.on('drain', pour)
    pour()
  },
}

/** A port on which nobody listens. */
const NOBODYS = 1

describe('over a real socket', () => {
  let server: Server
  let behaviour = 'hangs'
  before(async () => {
    server = createServer(socket => {
      socket.on('error', () => undefined)
      socket.once('data', () => behaviours[behaviour]?.(socket))
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  })
  after(() => server.close())

  const call = async (how: string, port = (server.address() as AddressInfo).port): Promise<CallOutcome<unknown>> => {
    behaviour = how
    const calls = new Calls({ fetch, clock: new SystemClock(), random: seeded(1), permits: unmetered, slots: () => new Slots(1) })
    const { endpoints } = openVendor('strava', { clientId: '1', clientSecret: 's', baseUrl: `http://127.0.0.1:${port}` })
    // Only who hangs is waited for until the time is over.
    const times =
      how === 'hangs' && port !== NOBODYS ? { attemptMs: 500, totalMs: 5_000 } : { attemptMs: 120_000, totalMs: 600_000 }
    return await calls.call(endpoints.activityList({}), { callClass: 'live', ...times, maxBytes: 1_000_000 })
  }

  for (const [how, outcome] of [
    ['resets', 'transient'],
    ['truncates', 'transient'],
    ['garbles', 'transient'],
    ['hangs', 'timeout'],
    ['floods', 'malformed'],
  ] as const) {
    test(`a vendor that ${how} is ${outcome}`, async () => {
      assert.equal((await call(how)).outcome, outcome)
    })
  }

  test('a vendor that is not there is transient', async () => {
    assert.equal((await call('hangs', NOBODYS)).outcome, 'transient')
  })
})
