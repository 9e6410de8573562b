// Redis over HTTP, as Upstash and its imitations serve it: one POST per command, a JSON array there, `{result}` or
// `{error}` back. There is no connection to keep, so opening does nothing and every call stands alone.
import { Outage } from './outage.ts'
import { RedisOverWire, type Reply } from './redis-wire.ts'
import type { Redis, RedisOptions } from './redis.ts'

// A first call includes the TLS handshake, often across a continent.
const DEADLINE_MS = 1000
/** An endpoint does not tell when the server behind it restarts, so each minute counts as a new connection. */
const LOOK_AGAIN_MS = 60_000

export function openRedisRest(url: URL, options: RedisOptions): Redis {
  const { token = '', clock, deadlineMs = DEADLINE_MS, fetch: post = fetch } = options
  const outage = new Outage(url, token)
  const address = `${url.origin}${url.pathname}`
  const send = async (command: readonly string[]): Promise<Reply> => {
    const signal = clock.deadline(deadlineMs)
    try {
      const response = await post(address, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(command),
        redirect: 'error',
        signal,
      })
      return replyOf(response.status, parsed(await response.text()))
    } catch (error) {
      if (signal.aborted) throw new Error(`no answer within ${deadlineMs} ms`, { cause: error })
      throw error instanceof TypeError && error.cause !== undefined ? error.cause : error
    }
  }
  return new RedisOverWire(
    { deadlineMs, send, connections: () => Math.floor(clock.now() / LOOK_AGAIN_MS), close: () => Promise.resolve() },
    outage,
  )
}

// Only 400 is the server refusing the command; every other failure is the service refusing us.
function replyOf(status: number, body: object): Reply {
  if (status === 200 && 'result' in body) return { result: body.result }
  const error = 'error' in body ? String(body.error) : 'without an answer'
  if (status === 400) return { refusal: error }
  throw new Error(`HTTP ${status} ${error}`)
}

// A proxy's error page is not JSON; its status says enough, and a page does not belong in a sentence.
function parsed(text: string): object {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null ? body : {}
  } catch {
    return {}
  }
}
