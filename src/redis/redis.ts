// Runs one named script over RESP or REST, within its deadline. Redis is never the only copy of anything, so being down is
// an ordinary state here: opening never fails, every failure to answer has one code, and the connection heals by itself.
// What a script means, and what to do while Redis is away, is left to the rooms that own the scripts.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { Clock } from '../kernel/clock.ts'

/** One Lua file per operation. */
export interface RedisScript {
  readonly name: string
  readonly text: string
}

/**
 * Laws:
 * - A script runs whole or not at all, but one that was not answered in time may still have run: count it as spent.
 * - Every round trip answers or fails within `deadlineMs`. A script the server does not hold is sent again in full, which
 *   is a second round trip.
 * - No answer, or one that says the server cannot serve now, is PACE_REDIS_UNAVAILABLE; it is never retried here.
 * - What the script itself got wrong is an Error without that code.
 * - After an outage the same object answers again. An outage is told once when it begins and once when it ends.
 * - close() lets what is under way finish and may be called any number of times; afterwards everything is
 *   PACE_REDIS_UNAVAILABLE.
 * - No sentence holds a password or a token.
 */
export interface Redis {
  /** How long a round trip may take. */
  readonly deadlineMs: number
  run(script: RedisScript, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>
  ping(): Promise<void>
  /** The server's run_id: tells a restarted (emptied) server from the same one. A service that hides it says `unknown`. */
  runId(): Promise<string>
  /** How many connections were made so far. After one more, the server may be another or have other data. */
  connections(): number
  close(): Promise<void>
}

export interface RedisOptions {
  readonly url: string
  /** The bearer token of a REST endpoint. */
  readonly token?: string
  readonly clock: Clock
  readonly deadlineMs?: number
  readonly fetch?: typeof fetch
}

/** `loadScript(new URL('./acquire.lua', import.meta.url))` */
export function loadScript(url: URL): RedisScript {
  return { name: basename(url.pathname, '.lua'), text: readFileSync(url, 'utf8') }
}

// The adapters are imported when they are chosen, so that an embedded process does not pay for a client it never uses.
export async function openRedis(options: RedisOptions): Promise<Redis> {
  const url = URL.parse(options.url)
  assert(url, 'the address of Redis is not a URL')
  if (/^rediss?:$/.test(url.protocol)) return (await import('./redis-resp.ts')).openRedisResp(url, options)
  assert.match(url.protocol, /^https?:$/, `Redis is reached by redis:, rediss: or https:, not ${url.protocol}`)
  return (await import('./redis-rest.ts')).openRedisRest(url, options)
}
