// A client of server-sent events, as a browser is one: reads what comes, in order, over the real wire.
import assert from 'node:assert/strict'

export interface LiveEvent {
  readonly event: string
  readonly data: Readonly<Record<string, unknown>>
}

export class EventStream {
  readonly response: Response
  /** Everything that came so far. */
  readonly events: LiveEvent[] = []
  comments = 0
  readonly #leaving: AbortController
  readonly #blocks: AsyncGenerator<string>

  private constructor(response: Response, leaving: AbortController) {
    this.response = response
    this.#leaving = leaving
    assert(response.body)
    this.#blocks = blocksIn(response.body)
  }

  static async open(url: string, headers: Readonly<Record<string, string>>): Promise<EventStream> {
    const leaving = new AbortController()
    const response = await fetch(`${url}/v1/events`, { headers, signal: leaving.signal })
    assert.equal(response.status, 200, response.ok ? '' : await response.text())
    return new EventStream(response, leaving)
  }

  /** Reads on until one comes that is looked for; it must come. */
  async next(wanted: (event: LiveEvent) => boolean = () => true): Promise<LiveEvent> {
    for (;;) {
      const { value, done } = await this.#blocks.next()
      assert(!done, 'the events ended before the one that is looked for')
      const found = this.#take(value)
      if (found !== undefined && wanted(found)) return found
    }
  }

  /** Reads on until the other side ends it. */
  async toEnd(): Promise<void> {
    for await (const block of this.#blocks) this.#take(block)
  }

  async comment(): Promise<void> {
    const before = this.comments
    while (this.comments === before) {
      const { value, done } = await this.#blocks.next()
      assert(!done, 'the events ended before a comment')
      this.#take(value)
    }
  }

  leave(): void {
    this.#leaving.abort()
  }

  #take(block: string): LiveEvent | undefined {
    if (block.startsWith(':')) {
      this.comments++
      return undefined
    }
    const [, event = '', data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? assert.fail(`no event: ${block}`)
    const found = { event, data: JSON.parse(data) as LiveEvent['data'] }
    this.events.push(found)
    return found
  }
}

async function* blocksIn(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  let waiting = ''
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const blocks = (waiting + text).split('\n\n')
    waiting = blocks.pop() ?? ''
    yield* blocks
  }
  assert.equal(waiting, '', 'half an event')
}
