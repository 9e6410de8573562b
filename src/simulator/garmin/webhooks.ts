// Garmin's delivery: whole summaries by push, or by ping a callback address with a token of its own. No handshake, no signature; only
// the client id in a header. What is not answered with 200 is tried again with growing pauses for a week.
import type { RetryRule } from '../courier.ts'
import type { Grants } from '../grants.ts'
import type { Stage } from '../stage.ts'
import type { Athlete } from '../world/athletes.ts'
import { hexOf } from '../world/chance.ts'
import type { Night } from '../world/nights.ts'
import type { Workout } from '../world/workouts.ts'
import { activityShape, detailsShape, sleepShape } from './shapes.ts'

const MINUTE_MS = 60_000
/** Doubling from a minute to a day: a week in all. */
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
  /** By token: what a ping's callback address will hand out. */
  readonly pulls = new Map<string, readonly Summary[]>()
  readonly #stage: Stage
  readonly #grants: Grants
  readonly #isPing: boolean

  constructor(stage: Stage, grants: Grants, isPing: boolean) {
    this.#stage = stage
    this.#grants = grants
    this.#isPing = isPing
  }

  activity(workout: Workout): void {
    this.deliver('activities', workout.athlete, [activityShape(workout)])
    const details = detailsShape(workout)
    if (details !== undefined) this.deliver('activityDetails', workout.athlete, [details])
  }

  night(night: Night): void {
    this.deliver('sleeps', night.athlete, [sleepShape(night)])
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
    const token = hexOf(this.#stage.random, 12)
    this.pulls.set(token, summaries)
    const until = Math.floor(this.#stage.clock.now() / 1000)
    const query = `uploadStartTimeInSeconds=${until - 3600}&uploadEndTimeInSeconds=${until}&token=${token}`
    return { userId: athlete.ids.garmin, callbackURL: `${this.#stage.publicUrl()}/garmin/wellness-api/rest/${type}?${query}` }
  }

  deregistered(athlete: Athlete, client: string): void {
    this.#post(client, { deregistrations: [{ userId: athlete.ids.garmin }] })
  }

  permissionsChanged(athlete: Athlete, client: string, permissions: readonly string[]): void {
    const changeTimeInSeconds = Math.floor(this.#stage.clock.now() / 1000)
    const summaryId = hexOf(this.#stage.random, 8)
    this.#post(client, { userPermissionsChange: [{ userId: athlete.ids.garmin, summaryId, permissions, changeTimeInSeconds }] })
  }

  #post(client: string, content: Summary): void {
    const url = this.#stage.portalUrl('garmin')
    if (url === undefined) return
    const body = JSON.stringify(content)
    this.#stage.courier.post({ vendor: 'garmin', url, body, rule: RULE, headers: () => ({ 'garmin-client-id': client }) })
  }
}
