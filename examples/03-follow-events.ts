// Follows what Paceline does for an athlete as it happens, over one connection that stays open: server-sent events. A browser's
// EventSource reads the same stream; here it is read by hand, because EventSource sends no token.
import { asking, connectStrava, newAthlete, startPaceline } from './local-paceline.ts'

interface Event {
  /** `import` or `stream`. */
  readonly name: string
  /** What the GET of the import, or of the activity's streams, answers. */
  readonly data: Readonly<Record<string, unknown>>
}

/** An event is lines up to an empty one. A line that begins with a colon is a comment, which only keeps the connection alive. */
async function* eventsIn(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<Event> {
  let rest = ''
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + text).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? []
      if (name !== undefined && data !== undefined) yield { name, data: JSON.parse(data) as Event['data'] }
    }
  }
}

await using paceline = await startPaceline({ activities: 3 })
const token = await newAthlete(paceline)

const answer = await fetch(`${paceline.url}/v1/events`, { headers: { authorization: `Bearer ${token}` } })
if (!answer.ok || answer.body === null) throw new Error(`The events were refused: ${await answer.text()}`)

// From now on nothing is missed.
await connectStrava(asking(paceline.url, token))

// What is under way is told at once, then each change. The connection would stay open for hours; this example leaves when the import is
// done and the first streams are there. A program that stays connects again when it is cut off, and looks up what ended meanwhile.
let isImported = false
let hasStreams = false
for await (const { name, data } of eventsIn(answer.body)) {
  if (name === 'import') console.log(`import: ${String(data['message'])}`)
  if (name === 'stream')
    console.log(
      `stream: ${String(data['status'])}, ${Number(data['point_count'])} samples of activity ${String(data['activity_id'])}`,
    )
  isImported ||= name === 'import' && data['status'] === 'completed'
  hasStreams ||= name === 'stream' && data['status'] === 'success'
  if (isImported && hasStreams) break
}
