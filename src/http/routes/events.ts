// What is under way, told as it changes: server-sent events, with what the GET of the thing answers as data.
import type { Readable } from 'node:stream'
import { z } from 'zod'
import { errorAnswer } from '../answers.ts'
import type { App, HttpParts } from '../app.ts'
import { isStillAllowed } from '../identity.ts'
import { Live } from '../live.ts'
import { liveImports } from './imports.ts'
import { liveNights } from './sleep.ts'
import { liveStreams } from './streams.ts'

export const EVENT_STREAM = 'text/event-stream'

const EVENTS = [
  'Events `import`, with the answer of `GET /v1/imports/{id}` as data, and `stream`, with the answer of `GET /v1/activities/{id}/streams`',
  'without the samples (`stream_data` is null), and `sleep`, with a night as `GET /v1/sleep` lists it. Whatever is running is sent at once, then every change: at most a few a second, and always the',
  'last state. A comment is sent every 15 seconds. The connection ends when the token is revoked or the server stops: connect again, and look',
  'up what has ended meanwhile.',
].join(' ')

/** A stream goes out as it is; the document calls it text. */
const eventText = z.string() as z.ZodType as z.ZodType<Readable>

const HEADERS = {
  'content-type': EVENT_STREAM,
  'cache-control': 'no-cache',
  // nginx, and servers that know its header, would hold events back until there are many.
  'x-accel-buffering': 'no',
  // The connection closes with the stream, so that a stop does not wait for a next request on it.
  connection: 'close',
}

export function eventRoutes(app: App, parts: HttpParts): void {
  const { accounts, clock, database, liveTimes } = parts
  const live = new Live({ database, clock, times: liveTimes, kinds: [liveImports(parts), liveStreams(parts), liveNights(parts)] })
  app.addHook('preClose', () => live.close())

  const schema = {
    summary: 'Running imports and streams, and new nights, as server-sent events',
    tags: ['athlete'],
    response: {
      200: { description: EVENTS, content: { [EVENT_STREAM]: { schema: eventText } } },
      429: errorAnswer,
    },
  }
  // No HEAD: nothing can be said about a stream without opening it.
  const options = { config: { audience: 'athlete' }, exposeHeadRoute: false, schema } as const
  app.get('/v1/events', options, async (request, reply) => {
    const body = await live.open(request.athleteId, () => isStillAllowed(request, accounts))
    return await reply.headers(HEADERS).send(body)
  })
}
