// The least that an ingest can be: a route of Fastify that publishes its body to JetStream and answers when it is stored.
import Fastify from 'fastify'
import { jetstream } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'

const [, , url = '', subject = ''] = process.argv
const connection = await connect({ servers: new URL(url).host })
const stream = jetstream(connection)
const app = Fastify()
app.post('/', async request => {
  const { seq } = await stream.publish(subject, JSON.stringify(request.body))
  return { message: 'Sleep data received', eventId: String(seq) }
})
console.log(await app.listen({ port: 0, host: '127.0.0.1' }))
process.once('SIGTERM', () => {
  void app.close().then(() => connection.close())
})
