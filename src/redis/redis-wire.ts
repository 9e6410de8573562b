// What the adapters share: which commands a verb of the port becomes and how a reply is read. An adapter only carries one
// command there and one reply back within the deadline; it rejects with the reason, and only when there was no reply.
import { createHash } from 'node:crypto'
import { reasonOf } from '../kernel/errors.ts'
import type { Outage } from './outage.ts'
import type { Redis, RedisScript } from './redis.ts'

/** A refusal is the server's error reply; its first word is the kind (NOSCRIPT, OOM, ERR). */
export type Reply = { readonly result: unknown } | { readonly refusal: string }

export interface Wire {
  readonly deadlineMs: number
  send(command: readonly string[]): Promise<Reply>
  connections(): number
  close(): Promise<void>
}

// Replies that mean "not now" or "not you": they count as no answer. The last one is what a hosted service says when its own
// quota is used up.
const CANNOT_SERVE =
  /^(?:LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|READONLY|OOM|MISCONF|NOREPLICAS|NOAUTH|NOPERM|WRONGPASS) |^ERR max .*limit exceeded/

export class RedisOverWire implements Redis {
  readonly #wire: Wire
  readonly #outage: Outage
  readonly #underWay = new Set<Promise<unknown>>()
  #closing: Promise<void> | undefined

  constructor(wire: Wire, outage: Outage) {
    this.#wire = wire
    this.#outage = outage
  }

  get deadlineMs(): number {
    return this.#wire.deadlineMs
  }

  run(script: RedisScript, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    return this.#beforeClosing(async () => {
      const rest = [String(keys.length), ...keys, ...args.map(String)]
      const reply = await this.#ask('EVALSHA', shaOf(script), ...rest)
      const isUnknown = 'refusal' in reply && reply.refusal.startsWith('NOSCRIPT')
      return resultOf(isUnknown ? await this.#ask('EVAL', script.text, ...rest) : reply, `The Redis script ${script.name}`)
    })
  }

  ping(): Promise<void> {
    return this.#beforeClosing(async () => {
      resultOf(await this.#ask('PING'), 'PING')
    })
  }

  runId(): Promise<string> {
    return this.#beforeClosing(async () => runIdIn(resultOf(await this.#ask('INFO', 'server'), 'INFO')))
  }

  connections(): number {
    return this.#wire.connections()
  }

  close(): Promise<void> {
    return (this.#closing ??= Promise.allSettled(this.#underWay).then(() => this.#wire.close()))
  }

  async #beforeClosing<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw this.#outage.error('the connection was closed')
    const running = work()
    this.#underWay.add(running)
    try {
      return await running
    } finally {
      this.#underWay.delete(running)
    }
  }

  async #ask(...command: string[]): Promise<Reply> {
    try {
      const reply = await this.#wire.send(command)
      if ('refusal' in reply && CANNOT_SERVE.test(reply.refusal)) throw new Error(reply.refusal)
      this.#outage.end()
      return reply
    } catch (error) {
      this.#outage.begin(reasonOf(error))
      throw this.#outage.error(reasonOf(error))
    }
  }
}

const runIdIn = (info: unknown): string => /^run_id:(\w+)/m.exec(String(info))?.[1] ?? 'unknown'

function resultOf(reply: Reply, what: string): unknown {
  if ('refusal' in reply) throw new Error(`${what} failed: ${reply.refusal}`)
  return reply.result
}

const shas = new WeakMap<RedisScript, string>()

function shaOf(script: RedisScript): string {
  const known = shas.get(script)
  if (known !== undefined) return known
  const sha = createHash('sha1').update(script.text).digest('hex')
  shas.set(script, sha)
  return sha
}
