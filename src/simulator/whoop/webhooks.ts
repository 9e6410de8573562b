// WHOOP's webhooks: the address is set in a dashboard, without a handshake. They are signed in base64 over a timestamp in
// milliseconds and the body, and tried six times over about an hour. After a sleep's event comes its recovery's, which carries
// the sleep's id.
import { createHmac } from 'node:crypto'
import type { SimulatorContext } from '../context.ts'
import type { Grants } from '../grants.ts'
import type { RetryRule } from '../webhook-sender.ts'
import { uuidOf } from '../world/keyed-random.ts'
import type { Night } from '../world/nights.ts'

const MINUTE_MS = 60_000
/** WHOOP recommends to answer within one second; here a receiver gets five. */
const RULE: RetryRule = { answerMs: 5000, pausesMs: [1, 4, 10, 20, 25].map(minutes => minutes * MINUTE_MS) }

export class WhoopWebhooks {
  readonly #context: SimulatorContext
  readonly #grants: Grants

  constructor(context: SimulatorContext, grants: Grants) {
    this.#context = context
    this.#grants = grants
  }

  sleep(what: 'updated' | 'deleted', night: Night): void {
    const url = this.#context.portalUrl('whoop')
    if (url === undefined || this.#grants.of(night.athlete).length === 0) return
    for (const topic of night.isNap ? ['sleep'] : ['sleep', 'recovery']) this.#post(url, `${topic}.${what}`, night)
  }

  #post(url: string, type: string, night: Night): void {
    const { clock, clients, webhookSender, random } = this.#context
    const body = JSON.stringify({ user_id: Number(night.athlete.ids.whoop), id: night.id, type, trace_id: uuidOf(random) })
    const headers = (): Record<string, string> => {
      const time = String(clock.now())
      const digest = createHmac('sha256', clients.newest('whoop')?.secret ?? '')
        .update(`${time}${body}`)
        .digest('base64')
      return { 'X-WHOOP-Signature': digest, 'X-WHOOP-Signature-Timestamp': time }
    }
    webhookSender.post({ vendor: 'whoop', url, body, rule: RULE, headers })
  }
}
