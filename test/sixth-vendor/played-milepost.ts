// Milepost as its application meets it: tokens, workouts in pages, and so many calls a quarter of an hour. It counts what it is asked.
import type { Clock } from '../../src/kernel/clock.ts'

const LIMIT = 10
const WINDOW_MS = 900_000
const DAY_MS = 86_400_000
export const REFUSED_SECONDS = 300

export interface Workout {
  readonly id: string
  readonly began: string
  readonly name: string
  readonly sport: string
  readonly took: number
  readonly length: number
}

export class PlayedMilepost {
  readonly #clock: Clock
  readonly workouts: Workout[]
  /** The path of every call that counts. */
  readonly asked: string[] = []
  /** How many calls came that it had not allowed. */
  overLimit = 0
  /** The next call is refused, although the limit is not reached. */
  refusesNext = false
  #window = 0
  #count = 0

  constructor(clock: Clock, count: number) {
    this.#clock = clock
    this.workouts = Array.from({ length: count }, (_, index) => workoutAt(`${count - index}`, clock.now() - (index + 1) * DAY_MS))
  }

  /** As the platform's fetch. */
  readonly fetch = (url: string, init: RequestInit): Promise<Response> => Promise.resolve(this.#answer(new URL(url), init))

  #answer({ pathname, searchParams }: URL, { headers }: RequestInit): Response {
    if (pathname === '/oauth/token')
      return Response.json({ access_token: 'open', refresh_token: 'again', expires_in: 360_000, scope: 'workouts' })
    if (new Headers(headers).get('authorization') !== 'Bearer open') return Response.json({ error: 'no token' }, { status: 401 })
    this.asked.push(pathname)
    const count = this.#counted()
    if (count > LIMIT) this.overLimit++
    if (count > LIMIT || this.refusesNext) return this.#refusal()
    const limits = { 'x-ratelimit-limit': `${LIMIT}`, 'x-ratelimit-remaining': `${LIMIT - count}` }
    const answer = pathname === '/v1/self' ? { id: 'm-7' } : this.#page(searchParams)
    return Response.json(answer, { headers: limits })
  }

  #counted(): number {
    const window = Math.floor(this.#clock.now() / WINDOW_MS)
    this.#count = window === this.#window ? this.#count + 1 : 1
    this.#window = window
    return this.#count
  }

  #refusal(): Response {
    this.refusesNext = false
    return Response.json({ error: 'too many' }, { status: 429, headers: { 'retry-after': `${REFUSED_SECONDS}` } })
  }

  #page(query: URLSearchParams): Workout[] {
    const [before, page, perPage] = [
      Number(query.get('before') ?? Infinity),
      Number(query.get('page')),
      Number(query.get('per_page')),
    ]
    const older = this.workouts.filter(({ began }) => Date.parse(began) < before * 1000)
    return older.slice((page - 1) * perPage, page * perPage)
  }
}

export const workoutAt = (id: string, at: number): Workout => ({
  id,
  began: new Date(at).toISOString(),
  name: `Workout ${id}`,
  sport: 'run',
  took: 1800,
  length: 5000,
})
