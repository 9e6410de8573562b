// WHOOP's push: the address is set in a dashboard, there is no handshake. Signed in base64 over a millisecond timestamp and the body;
// five retries over about an hour. A sleep's event is followed by its recovery's, which carries the sleep's id.
import { createHmac } from 'node:crypto'
import type { RetryRule } from '../courier.ts'
import type { Grants } from '../grants.ts'
import type { Stage } from '../stage.ts'
import { uuidOf } from '../world/chance.ts'
import type { Night } from '../world/nights.ts'

const MINUTE_MS = 60_000
/** A second is recommended; five are what a receiver gets here. */
const RULE: RetryRule = { answerMs: 5000, pausesMs: [1, 4, 10, 20, 25].map(minutes => minutes * MINUTE_MS) }

export class WhoopWebhooks {
  readonly #stage: Stage
  readonly #grants: Grants

  constructor(stage: Stage, grants: Grants) {
    this.#stage = stage
    this.#grants = grants
  }

  sleep(what: 'updated' | 'deleted', night: Night): void {
    const url = this.#stage.portalUrl('whoop')
    if (url === undefined || this.#grants.of(night.athlete).length === 0) return
    for (const subject of night.isNap ? ['sleep'] : ['sleep', 'recovery']) this.#post(url, `${subject}.${what}`, night)
  }

  #post(url: string, type: string, night: Night): void {
    const { clock, clients, courier, random } = this.#stage
    const body = JSON.stringify({ user_id: Number(night.athlete.ids.whoop), id: night.id, type, trace_id: uuidOf(random) })
    const headers = (): Record<string, string> => {
      const time = String(clock.now())
      const digest = createHmac('sha256', clients.newest('whoop')?.secret ?? '')
        .update(`${time}${body}`)
        .digest('base64')
      return { 'X-WHOOP-Signature': digest, 'X-WHOOP-Signature-Timestamp': time }
    }
    courier.post({ vendor: 'whoop', url, body, rule: RULE, headers })
  }
}
