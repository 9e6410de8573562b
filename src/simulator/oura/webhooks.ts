// Oura's webhooks: one subscription per event and data type, made with the application's credentials and a handshake.
// Subscriptions expire. Events are signed in upper-case hex over timestamp and body, and tried eleven times over about an hour; a
// 410 ends the subscription.
import { createHmac } from 'node:crypto'
import { empty, json, type Answer } from '../answer.ts'
import type { SimulatorContext } from '../context.ts'
import type { Grants } from '../grants.ts'
import { textOf, type Call, type Route } from '../router.ts'
import type { RetryRule } from '../webhook-sender.ts'
import type { Athlete } from '../world/athletes.ts'
import { hexOf, uuidOf } from '../world/keyed-random.ts'
import { refusal } from './api.ts'

const MINUTE_MS = 60_000
const RULE: RetryRule = { answerMs: 10_000, pausesMs: [0.5, 1, 1.5, 2, 4, 6, 8, 10, 12, 15].map(minutes => minutes * MINUTE_MS) }
/** Oura does not publish how long a subscription lives. */
const LIFE_MS = 90 * 86_400_000
const EVENTS: readonly string[] = ['create', 'update', 'delete']

interface Subscription {
  readonly id: string
  readonly client: string
  readonly eventType: string
  readonly dataType: string
  callbackUrl: string
  expiresAt: number
}

type OuraEvent = 'create' | 'update' | 'delete'
type OuraData = 'sleep' | 'daily_sleep'

export class OuraWebhooks {
  readonly #subscriptions = new Map<string, Subscription>()
  readonly #context: SimulatorContext
  readonly #grants: Grants

  constructor(context: SimulatorContext, grants: Grants) {
    this.#context = context
    this.#grants = grants
  }

  routes(): Route[] {
    const common = { vendor: 'oura', access: 'app' } as const
    const all = '/v2/webhook/subscription'
    return [
      { ...common, method: 'GET', template: all, handle: call => json(200, this.#of(call).map(subscriptionPayload)) },
      { ...common, method: 'POST', template: all, handle: call => this.#subscribe(call) },
      { ...common, method: 'PUT', template: `${all}/renew/{id}`, handle: call => this.#renew(call) },
      {
        ...common,
        method: 'GET',
        template: `${all}/{id}`,
        handle: call => this.#withOne(call, one => json(200, subscriptionPayload(one))),
      },
      { ...common, method: 'PUT', template: `${all}/{id}`, handle: call => this.#change(call) },
      { ...common, method: 'DELETE', template: `${all}/{id}`, handle: call => this.#remove(call) },
    ]
  }

  #of(call: Call): Subscription[] {
    const client = call.headers.get('x-client-id')
    return [...this.#subscriptions.values()].filter(one => one.client === client && one.expiresAt > this.#context.clock.now())
  }

  /** Oura answers an unknown subscription with 403, not with 404. */
  #withOne<T>(call: Call, use: (one: Subscription) => T): T | Answer {
    const one = this.#of(call).find(({ id }) => id === call.params['id'])
    return one === undefined ? refusal(403, 'Forbidden') : use(one)
  }

  async #subscribe(call: Call): Promise<Answer> {
    const field = (name: string): string => textOf(call.fields, name)
    const missing = ['callback_url', 'verification_token', 'event_type', 'data_type'].find(name => field(name) === '')
    if (missing !== undefined)
      return json(422, { detail: [{ loc: ['body', missing], msg: 'field required', type: 'value_error.missing' }] })
    if (!EVENTS.includes(field('event_type'))) return refusal(422, 'event_type is not one of create, update, delete')
    const taken = this.#of(call).some(one => one.eventType === field('event_type') && one.dataType === field('data_type'))
    if (taken) return refusal(400, 'A subscription for this event and data type exists')
    if (!(await this.#isVerified(field('callback_url'), field('verification_token'))))
      return refusal(400, 'Callback URL could not be verified')
    const made: Subscription = {
      id: uuidOf(this.#context.random),
      client: call.headers.get('x-client-id') ?? '',
      eventType: field('event_type'),
      dataType: field('data_type'),
      callbackUrl: field('callback_url'),
      expiresAt: this.#context.clock.now() + LIFE_MS,
    }
    this.#subscriptions.set(made.id, made)
    return json(201, subscriptionPayload(made))
  }

  async #isVerified(callbackUrl: string, token: string): Promise<boolean> {
    if (!URL.canParse(callbackUrl)) return false
    const challenge = hexOf(this.#context.random, 8)
    const url = new URL(callbackUrl)
    url.searchParams.set('verification_token', token)
    url.searchParams.set('challenge', challenge)
    const answer = await this.#context.webhookSender.ask(url.href, RULE.answerMs)
    return answer?.status === 200 && answer.text.includes('"challenge"') && answer.text.includes(`"${challenge}"`)
  }

  async #change(call: Call): Promise<Answer> {
    const callbackUrl = textOf(call.fields, 'callback_url')
    return await this.#withOne(call, async one => {
      const next = callbackUrl === '' ? one.callbackUrl : callbackUrl
      if (!(await this.#isVerified(next, textOf(call.fields, 'verification_token'))))
        return refusal(400, 'Callback URL could not be verified')
      one.callbackUrl = next
      return json(200, subscriptionPayload(one))
    })
  }

  #renew(call: Call): Answer {
    return this.#withOne(call, one => {
      one.expiresAt = this.#context.clock.now() + LIFE_MS
      return json(200, subscriptionPayload(one))
    })
  }

  #remove(call: Call): Answer {
    return this.#withOne(call, one => {
      this.#subscriptions.delete(one.id)
      return empty(204)
    })
  }

  /** Sends to the subscriptions of this kind or, if the application has none at all, to `portalUrl`. */
  tell(event: OuraEvent, data: OuraData, athlete: Athlete, objectId: string): void {
    const body = JSON.stringify({
      event_type: event,
      data_type: data,
      object_id: objectId,
      event_time: new Date(this.#context.clock.now()).toISOString().replace('Z', '+00:00'),
      user_id: athlete.ids.oura,
    })
    for (const { client, scopes } of this.#grants.of(athlete)) {
      if (!scopes.has('daily')) continue
      const own = [...this.#subscriptions.values()].filter(
        one => one.client === client && one.expiresAt > this.#context.clock.now(),
      )
      const fitting = own.filter(one => one.eventType === event && one.dataType === data)
      for (const one of fitting) this.#post(one.callbackUrl, body, () => this.#subscriptions.delete(one.id))
      const portal = this.#context.portalUrl('oura')
      if (own.length === 0 && portal !== undefined) this.#post(portal, body)
    }
  }

  #post(url: string, body: string, onGone: () => unknown = () => undefined): void {
    const headers = (): Record<string, string> => {
      const time = String(Math.floor(this.#context.clock.now() / 1000))
      const secret = this.#context.clients.newest('oura')?.secret ?? ''
      const digest = createHmac('sha256', secret).update(`${time}${body}`).digest('hex').toUpperCase()
      return { 'x-oura-signature': digest, 'x-oura-timestamp': time }
    }
    this.#context.webhookSender.post({ vendor: 'oura', url, body, rule: RULE, headers, onGone: () => void onGone() })
  }
}

const subscriptionPayload = (one: Subscription): Record<string, unknown> => ({
  id: one.id,
  callback_url: one.callbackUrl,
  event_type: one.eventType,
  data_type: one.dataType,
  expiration_time: new Date(one.expiresAt).toISOString(),
})
