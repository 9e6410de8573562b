// Garmin's history: the real server asks for it, the real simulator pushes it to the server's webhook, and it is there with its samples.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { install, type Installation } from '../programs/installation.ts'
import { until } from '../waiting.ts'

const ACTIVITIES = 5
/** Asking for five years takes three hours of the vendor's minutes. */
const SPEED = 1_200

describe('Garmin', () => {
  let the: Installation
  before(async () => {
    the = await install({ vendors: ['garmin'], activities: ACTIVITIES, speed: SPEED, webhooks: true })
  })
  after(() => the.stop())

  test('sends its history when it is asked, and all of it arrives', async () => {
    const { id, headers } = await the.athlete()
    await the.connect(id, 'garmin', { tick: ['HISTORICAL_DATA_EXPORT'] })
    const get = async <T>(path: string): Promise<T[]> => (await the.ask<{ items: T[] }>(headers, 'GET', path)).items
    type Import = { status: string; message: string; problems: unknown[] }
    await until(async () => (await get<Import>('/v1/imports'))[0]?.status === 'completed')
    const [last] = await get<Import>('/v1/imports')
    assert.deepEqual([last?.message, last?.problems], [`Completed: ${ACTIVITIES} activities imported`, []])
    const activities = async () => await get<{ vendor: string; manual: boolean; streams: string }>('/v1/activities')
    await until(async () => (await activities()).every(({ manual, streams }) => manual || streams === 'success'))
    assert.deepEqual(
      (await activities()).map(({ vendor }) => vendor),
      Array.from({ length: ACTIVITIES }, () => 'garmin'),
    )
  })

  test('is believed by its header before its body is read: twelve bodies of 100 MB are refused before they are sent', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => answerToHead(new URL(the.server.url))))
    for (const answer of answers) assert.match(answer, /^HTTP\/1\.1 401 /)
  })
})

/** To a push of somebody else, of which only the head is sent. */
async function answerToHead({ hostname, port }: URL): Promise<string> {
  const socket = connect(Number(port), hostname)
  const head = ['POST /webhooks/garmin HTTP/1.1', 'Host: a', 'garmin-client-id: another', `Content-Length: ${100 * 1024 * 1024}`]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  const [bytes] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  return bytes.toString()
}
