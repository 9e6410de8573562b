// Tells the clients of this process what changes in the database, whichever process made the change. One LISTEN serves all
// clients and begins with the first. A client hears only of its own athlete's things.
import type { Readable } from 'node:stream'
import type { Database } from '../db/db.ts'
import type { Clock } from '../kernel/clock.ts'
import { PacelineError } from '../kernel/errors.ts'
import { within } from '../kernel/within.ts'
import { Feed, type LiveKind, type LiveTimes } from './feed.ts'

interface LiveParts {
  readonly database: Pick<Database, 'listen'>
  readonly clock: Clock
  readonly kinds: readonly LiveKind[]
  readonly times?: Partial<LiveTimes> | undefined
}

/** The name that the migration gives the channel. */
const CHANNEL = 'paceline_live'
const TIMES: LiveTimes = { beatMs: 15_000, passMs: 250, checkMs: 30_000 }
/** More pages than a person has open; each costs a few queries a second while something is under way. */
export const MOST_FEEDS = 10
/** A database that does not answer must not hold up a client or a stop. */
const PATIENCE_MS = 2_000

export class Live {
  readonly #parts: LiveParts
  readonly #times: LiveTimes
  readonly #feeds = new Map<string, Map<Feed, Promise<void>>>()
  #listening: Promise<() => Promise<void>> | undefined
  #isClosed = false

  constructor(parts: LiveParts) {
    this.#parts = parts
    this.#times = { ...TIMES, ...parts.times }
  }

  /** The body of the client's answer. `isAllowed` is asked again every `checkMs`. */
  async open(athleteId: string, isAllowed: () => Promise<boolean>): Promise<Readable> {
    const { clock, kinds } = this.#parts
    // Listens before anything is sent, so that nothing falls between the first look and the first notification.
    await this.#listen()
    if (this.#isClosed) throw new PacelineError('PACE_STOPPING', 'Paceline is stopping; try again in a moment.')
    const feeds = this.#feeds.get(athleteId) ?? new Map<Feed, Promise<void>>()
    if (feeds.size >= MOST_FEEDS) throw tooMany()
    const feed = new Feed({ clock, kinds, athleteId, isAllowed, times: this.#times })
    this.#feeds.set(athleteId, feeds)
    feeds.set(
      feed,
      feed.run().finally(() => {
        feeds.delete(feed)
        if (feeds.size === 0 && this.#feeds.get(athleteId) === feeds) this.#feeds.delete(athleteId)
      }),
    )
    return feed.body
  }

  /** Ends every feed, and waits for what they have under way. */
  async close(): Promise<void> {
    this.#isClosed = true
    const running = [...this.#all()].map(([feed, done]) => {
      feed.end()
      return done
    })
    if (this.#listening === undefined) return
    const rest = Promise.all([...running, this.#listening.then(stop => stop())])
    await within(this.#parts.clock.deadline(PATIENCE_MS), rest).catch(() => undefined)
  }

  *#all(): Generator<[Feed, Promise<void>]> {
    for (const feeds of this.#feeds.values()) yield* feeds
  }

  async #listen(): Promise<void> {
    this.#listening ??= this.#parts.database
      .listen(CHANNEL, payload => {
        this.#hear(payload)
      })
      .catch((error: unknown) => {
        this.#listening = undefined
        throw error
      })
    const deadline = this.#parts.clock.deadline(PATIENCE_MS)
    await within(deadline, this.#listening).catch((error: unknown) => {
      if (error !== deadline.reason) throw error
      throw new PacelineError('PACE_DATABASE_UNAVAILABLE', 'The database does not answer; try again in a moment.')
    })
  }

  #hear(payload: string | undefined): void {
    if (payload === undefined) {
      for (const [feed] of this.#all()) feed.missed()
      return
    }
    const news = JSON.parse(payload) as { kind: string; athleteId: string; id: string }
    // Another process may be of a newer version and know more kinds.
    const kind = this.#parts.kinds.find(each => each.kind === news.kind)
    if (kind === undefined) return
    for (const feed of this.#feeds.get(news.athleteId)?.keys() ?? []) feed.changed(kind, news.id)
  }
}

const tooMany = (): PacelineError =>
  new PacelineError('PACE_TOO_MANY_FEEDS', `This athlete already has ${MOST_FEEDS} open connections to /v1/events; close one.`)
