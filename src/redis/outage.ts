// The one place that words "Redis is unavailable": the error, the notice when an outage begins and the one when it ends.
// Servers and proxies may echo what they were sent, so every secret is struck out of whatever they said.
import { tell } from '../kernel/channels.ts'
import { PacelineError } from '../kernel/errors.ts'

export class Outage {
  readonly #host: string
  readonly #secrets: readonly string[]
  #reason: string | undefined

  constructor(url: URL, token = '') {
    this.#host = url.host
    this.#secrets = [token, url.password, decodeURIComponent(url.password)].filter(secret => secret !== '')
  }

  /** Why it began; undefined while Redis answers. */
  get reason(): string | undefined {
    return this.#reason
  }

  /** Tells only the first failure of an outage: a client that tries every second must not fill the log. */
  begin(reason: string): void {
    if (this.#reason === undefined) this.#notice(this.#sentence(reason))
    this.#reason = reason
  }

  end(): void {
    if (this.#reason === undefined) return
    this.#reason = undefined
    this.#notice(`Redis at ${this.#host} answers again.`)
  }

  /** Has no cause on purpose: a client's error holds the arguments of its command, and those of a handshake are the password. */
  error(reason: string): PacelineError {
    return new PacelineError('PACE_REDIS_UNAVAILABLE', this.#sentence(reason))
  }

  #notice(sentence: string): void {
    tell('paceline:notice', { where: 'redis', sentence, level: 'warn' })
  }

  #sentence(reason: string): string {
    const safe = this.#secrets.reduce((text, secret) => text.replaceAll(secret, '***'), reason)
    return `Redis at ${this.#host} is unavailable: ${safe.replace(/\.?$/, '.')}`
  }
}
