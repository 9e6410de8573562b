import { JetStreamBus, openNats, streamsOf } from '../../src/events/events.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { tracedNightContract } from '../contract/traced-night.contract.ts'
import { startNats } from '../servers/nats.ts'

tracedNightContract('NATS JetStream', async () => {
  const clock = new SystemClock()
  const server = await startNats()
  const nats = await openNats({ url: server.url, clock, deadlineMs: 60_000 })
  const bus = new JetStreamBus({ nats, clock, streams: streamsOf(7) })
  return Object.assign(bus, {
    close: async () => {
      await nats.close()
      await server.stop()
    },
  })
})
