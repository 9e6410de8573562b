// Garmin's delivery: by push whole summaries, by ping an address with a token from which they are pulled. There is no handshake
// and no signature, only the client id in a header. A delivery that is not answered with 2xx is tried again for a week, with
// growing pauses.
import type { SimulatorContext } from '../context.ts'
import type { Grants } from '../grants.ts'
import type { RetryRule } from '../webhook-sender.ts'
import type { Athlete } from '../world/athletes.ts'
import { hexOf } from '../world/keyed-random.ts'
import type { Night } from '../world/nights.ts'
import type { Workout } from '../world/workouts.ts'
import { activityPayload, detailsPayload, sleepPayload } from './payloads.ts'

const MINUTE_MS = 60_000
/** Pauses double from a minute to a day, a week in all. */
const RULE: RetryRule = { answerMs: 30_000, pausesMs: growing(MINUTE_MS, 24 * 60 * MINUTE_MS, 7 * 24 * 60 * MINUTE_MS) }

function growing(firstMs: number, mostMs: number, totalMs: number): number[] {
  const pauses: number[] = []
  for (let [pause, sum] = [firstMs, 0]; sum + pause <= totalMs; pause = Math.min(mostMs, pause * 2)) {
    pauses.push(pause)
    sum += pause
  }
  return pauses
}

export type GarminType = 'activities' | 'activityDetails' | 'sleeps'
export const GARMIN_TYPES: readonly GarminType[] = ['activities', 'activityDetails', 'sleeps']

type Summary = Readonly<Record<string, unknown>>

export class GarminWebhooks {
  /** By token: what the address in a ping answers. */
  readonly pulls = new Map<string, readonly Summary[]>()
  readonly #context: SimulatorContext
  readonly #grants: Grants
  readonly #isPing: boolean

  constructor(context: SimulatorContext, grants: Grants, isPing: boolean) {
    this.#context = context
    this.#grants = grants
    this.#isPing = isPing
  }

  activity(workout: Workout): void {
    this.deliver('activities', workout.athlete, [activityPayload(workout)])
    const details = detailsPayload(workout)
    if (details !== undefined) this.deliver('activityDetails', workout.athlete, [details])
  }

  night(night: Night): void {
    this.deliver('sleeps', night.athlete, [sleepPayload(night)])
  }

  deliver(type: GarminType, athlete: Athlete, summaries: readonly Summary[]): void {
    const permission = type === 'sleeps' ? 'HEALTH_EXPORT' : 'ACTIVITY_EXPORT'
    for (const { client, scopes } of this.#grants.of(athlete)) {
      if (!scopes.has(permission)) continue
      // Details are delivered by push only.
      const isPing = this.#isPing && type !== 'activityDetails'
      this.#post(client, { [type]: isPing ? [this.#ping(type, athlete, summaries)] : summaries })
    }
  }

  #ping(type: GarminType, athlete: Athlete, summaries: readonly Summary[]): Summary {
    const token = hexOf(this.#context.random, 12)
    this.pulls.set(token, summaries)
    const until = Math.floor(this.#context.clock.now() / 1000)
    const query = `uploadStartTimeInSeconds=${until - 3600}&uploadEndTimeInSeconds=${until}&token=${token}`
    return { userId: athlete.ids.garmin, callbackURL: `${this.#context.publicUrl()}/garmin/wellness-api/rest/${type}?${query}` }
  }

  deregistered(athlete: Athlete, client: string): void {
    this.#post(client, { deregistrations: [{ userId: athlete.ids.garmin }] })
  }

  permissionsChanged(athlete: Athlete, client: string, permissions: readonly string[]): void {
    const changeTimeInSeconds = Math.floor(this.#context.clock.now() / 1000)
    const summaryId = hexOf(this.#context.random, 8)
    this.#post(client, { userPermissionsChange: [{ userId: athlete.ids.garmin, summaryId, permissions, changeTimeInSeconds }] })
  }

  #post(client: string, content: Summary): void {
    const url = this.#context.portalUrl('garmin')
    if (url === undefined) return
    const body = JSON.stringify(content)
    this.#context.webhookSender.post({ vendor: 'garmin', url, body, rule: RULE, headers: () => ({ 'garmin-client-id': client }) })
  }
}
