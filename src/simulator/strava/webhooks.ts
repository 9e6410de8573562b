// Strava's webhooks: one subscription per application, made by a handshake within two seconds. Three attempts in all, no replay,
// unsigned unless `signWebhooks`. For an application that may not see private activities, one that becomes private is deleted and
// one that becomes public is created.
import { createHmac } from 'node:crypto'
import { empty, json, jsonNumber, type Answer } from '../answer.ts'
import type { SimulatorContext } from '../context.ts'
import type { Grant, Grants } from '../grants.ts'
import { textOf, type Call, type Route } from '../router.ts'
import type { RetryRule } from '../webhook-sender.ts'
import type { Athlete } from '../world/athletes.ts'
import { hexOf } from '../world/keyed-random.ts'
import { isoSeconds } from '../world/local-time.ts'
import type { Workout } from '../world/workouts.ts'
import { badRequest, nothingHere } from './refusals.ts'

/** Two more attempts after one to two minutes. The pauses are from a single observation. */
const RULE: RetryRule = { answerMs: 2000, pausesMs: [75_000, 110_000] }
const LONGEST_CALLBACK = 255

interface Subscription {
  readonly id: number
  readonly client: string
  readonly callbackUrl: string
  readonly createdAt: number
}

type Aspect = 'create' | 'update' | 'delete'

export class StravaWebhooks {
  readonly #subscriptions = new Map<string, Subscription>()
  readonly #context: SimulatorContext
  readonly #grants: Grants
  #lastId = 250_000

  constructor(context: SimulatorContext, grants: Grants) {
    this.#context = context
    this.#grants = grants
  }

  routes(): Route[] {
    const common = { vendor: 'strava', access: 'app' } as const
    const template = '/api/v3/push_subscriptions'
    return [
      { ...common, method: 'GET', template, handle: call => json(200, this.#listOf(call)) },
      { ...common, method: 'POST', template, handle: call => this.#subscribe(call) },
      { ...common, method: 'DELETE', template: `${template}/{id}`, handle: call => this.#unsubscribe(call) },
    ]
  }

  #listOf(call: Call): unknown[] {
    const held = this.#subscriptions.get(clientIn(call))
    return held === undefined ? [] : [subscriptionPayload(held)]
  }

  async #subscribe(call: Call): Promise<Answer> {
    const client = clientIn(call)
    const callbackUrl = textOf(call.fields, 'callback_url')
    if (this.#subscriptions.has(client)) return badRequest('PushSubscription', '', 'already exists')
    if (!URL.canParse(callbackUrl) || callbackUrl.length > LONGEST_CALLBACK) return refuse('not verifiable')
    if (!(await this.#isVerified(callbackUrl, textOf(call.fields, 'verify_token')))) {
      return refuse('GET to callback URL does not return 200')
    }
    this.#lastId += 1
    const made: Subscription = { id: this.#lastId, client, callbackUrl, createdAt: this.#context.clock.now() }
    this.#subscriptions.set(client, made)
    return json(201, subscriptionPayload(made))
  }

  async #isVerified(callbackUrl: string, verifyToken: string): Promise<boolean> {
    const challenge = hexOf(this.#context.random, 8)
    const url = new URL(callbackUrl)
    url.searchParams.set('hub.mode', 'subscribe')
    url.searchParams.set('hub.challenge', challenge)
    url.searchParams.set('hub.verify_token', verifyToken)
    const answer = await this.#context.webhookSender.ask(url.href, RULE.answerMs)
    return answer?.status === 200 && answer.text.includes('"hub.challenge"') && answer.text.includes(`"${challenge}"`)
  }

  #unsubscribe(call: Call): Answer {
    const held = this.#subscriptions.get(clientIn(call))
    if (held === undefined || String(held.id) !== call.params['id']) return nothingHere()
    this.#subscriptions.delete(held.client)
    return empty(204)
  }

  created(workout: Workout): void {
    this.#tellAbout(workout, () => ({ aspect: 'create', updates: {} }))
  }

  deleted(workout: Workout): void {
    this.#tellAbout(workout, () => ({ aspect: 'delete', updates: {} }))
  }

  /** `updates` has Strava's names: title, type, private (as text). */
  updated(workout: Workout, updates: Readonly<Record<string, string>>): void {
    this.#tellAbout(workout, grant => {
      if (updates['private'] === undefined || seesPrivate(grant)) return { aspect: 'update', updates }
      return { aspect: updates['private'] === 'true' ? 'delete' : 'create', updates: {} }
    })
  }

  deauthorised(athlete: Athlete, client: string): void {
    const id = athlete.ids.strava
    this.#post(client, {
      object_type: 'athlete',
      object_id: jsonNumber(id),
      aspect_type: 'update',
      updates: { authorized: 'false' },
      owner_id: jsonNumber(id),
    })
  }

  /** Sends to the applications that may see activities of the athlete. */
  #tellAbout(workout: Workout, eventFor: (grant: Grant) => { aspect: Aspect; updates: Readonly<Record<string, string>> }): void {
    for (const grant of this.#grants.of(workout.athlete).filter(seesActivities)) {
      const { aspect, updates } = eventFor(grant)
      if (workout.isPrivate && !seesPrivate(grant) && aspect !== 'delete') continue
      this.#post(grant.client, {
        object_type: 'activity',
        object_id: jsonNumber(workout.id),
        aspect_type: aspect,
        updates,
        owner_id: jsonNumber(workout.athlete.ids.strava),
      })
    }
  }

  /** Sends to the application's subscription or, if it has none, to `portalUrl`. */
  #post(client: string, event: Readonly<Record<string, unknown>>): void {
    const { clock, webhookSender, portalUrl } = this.#context
    const held = this.#subscriptions.get(client)
    const url = held?.callbackUrl ?? portalUrl('strava')
    if (url === undefined) return
    const body = JSON.stringify({ ...event, subscription_id: held?.id ?? 1, event_time: Math.floor(clock.now() / 1000) })
    webhookSender.post({ vendor: 'strava', url, body, rule: RULE, headers: () => this.#signature(body) })
  }

  #signature(body: string): Record<string, string> {
    if (!this.#context.signWebhooks) return {}
    const time = Math.floor(this.#context.clock.now() / 1000)
    const secret = this.#context.clients.newest('strava')?.secret ?? ''
    const digest = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')
    return { 'X-Strava-Signature': `t=${time},v1=${digest}` }
  }
}

const seesPrivate = ({ scopes }: Grant): boolean => scopes.has('activity:read_all')
const seesActivities = ({ scopes }: Grant): boolean => scopes.has('activity:read') || scopes.has('activity:read_all')

const refuse = (code: string): Answer => badRequest('PushSubscription', 'callback url', code)

const clientIn = (call: Call): string => textOf(call.fields, 'client_id') || (call.query.get('client_id') ?? '')

const subscriptionPayload = ({ id, client, callbackUrl, createdAt }: Subscription): Record<string, unknown> => ({
  id,
  resource_state: 2,
  application_id: /^\d+$/.test(client) ? Number(client) : client,
  callback_url: callbackUrl,
  created_at: isoSeconds(createdAt),
  updated_at: isoSeconds(createdAt),
})
