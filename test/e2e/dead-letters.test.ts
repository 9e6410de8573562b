// A stranger publishes what no consumer can handle, on a real NATS and with none of our code; the command line finds it, shows it and
// publishes it again.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { jetstream, type JetStreamClient } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { install, type Installation } from '../programs/installation.ts'
import { startNats } from '../servers/nats.ts'
import type { TestServer } from '../servers/server.ts'
import { until } from '../waiting.ts'

const SUBJECT = 'athlete-ally.sleep.raw-received'
const DEAD = 'dlq.normalize.sleep.raw-received.schema-invalid'
const NO_DATE = JSON.stringify({
  eventId: 'stranger-1',
  payload: { userId: 'somebody', date: '2025-02-30', durationMinutes: 400 },
})
const BYTES = Buffer.from([0xff, 0xfe, 0x00, 0x1b, 0x5b])

interface Letter {
  readonly id: string
  readonly reason: string
  readonly originalSubject: string
  readonly payload: string
  readonly payloadEncoding: string
  readonly replays: number
}

describe('dead letters, from the bus to the command line', () => {
  let nats: TestServer
  let stranger: NatsConnection
  let stream: JetStreamClient
  let the: Installation
  before(async () => {
    nats = await startNats()
    the = await install({ settings: { PACELINE_NATS_URL: nats.url } })
    stranger = await connect({ servers: new URL(nats.url).host })
    stream = jetstream(stranger)
    // The stream is made when the consumers begin.
    await until(
      async () =>
        await stream.publish(SUBJECT, NO_DATE, { msgID: 'stranger-1' }).then(
          () => true,
          () => false,
        ),
    )
    await stream.publish(SUBJECT, BYTES)
    await until(async () => (await listed()).length === 2)
  })
  after(async () => {
    await stranger.close()
    await the.stop()
    await nats.stop()
  })

  const listed = async (...words: string[]): Promise<Letter[]> =>
    JSON.parse(await the.cli('dlq', 'list', '--json', ...words)) as Letter[]

  test('each is listed with its reason, byte for byte', async () => {
    const found = await listed('--subject', SUBJECT)
    assert.deepEqual(new Set(found.map(({ reason }) => reason)), new Set(['schema-invalid']))
    assert(found.some(({ payload, payloadEncoding }) => payload === NO_DATE && payloadEncoding === 'utf8'))
    assert(found.some(({ payload, payloadEncoding }) => payload === BYTES.toString('base64') && payloadEncoding === 'base64'))
    const { code, out } = await the.run('dlq', 'list')
    assert.equal(code, 0)
    assert.match(
      out,
      /^\S+ {2}\S+ \S+ UTC {2}schema-invalid {2}athlete-ally\.sleep\.raw-received {2}payload\.date: Invalid date format$/m,
    )
  })

  test('one is shown with what to do, its bytes in base64 where they are no text', async () => {
    const found = await listed()
    const shown = async (encoding: string): Promise<string> =>
      await the.cli('dlq', 'show', found.find(({ payloadEncoding }) => payloadEncoding === encoding)?.id ?? '')
    assert.match(
      await shown('utf8'),
      /^action +Review the structure of the event and fix its publisher; a replay of the same bytes/m,
    )
    assert((await shown('utf8')).endsWith(`\n${NO_DATE}`))
    assert((await shown('base64')).endsWith(`\nThe payload is binary; its 5 bytes in base64:\n${BYTES.toString('base64')}`))
  })

  test('what is published again is consumed again, and what was replayed is not by its subject', async () => {
    const [letter] = await listed('--subject', SUBJECT)
    const one = await the.run('dlq', 'replay', letter?.id ?? '')
    assert.deepEqual(one, { code: 0, out: '1 published again.\n', err: '' })
    // The same bytes fail again: another letter of the same event.
    await until(async () => (await listed()).length === 3)
    assert.equal((await listed()).find(({ id }) => id === letter?.id)?.replays, 1)
    assert.deepEqual(JSON.parse(await the.cli('dlq', 'replay', '--subject', DEAD, '--json')), { replayed: 2 })
    await until(async () => (await listed()).length === 5)
  })

  test('what is not there is a failure, and wrong words are wrong usage', async () => {
    assert.deepEqual(await the.run('dlq', 'show', the.folder), {
      code: 1,
      out: '',
      err: 'There is nothing here with this id or name.\n',
    })
    assert.equal((await the.run('dlq', 'replay')).code, 2)
  })
})
