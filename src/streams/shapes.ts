// The shape of an activity, computed once and cached with what it was computed from. New streams, another sport or a new SHAPE_VERSION make
// the cached one out of date.
import { loadQueries, type Database } from '../db/db.ts'
import { SHAPE_VERSION, shapeOf, type Shape, type ShapeChannels } from '../shape/shape.ts'
import type { StreamStatus } from '../activities/activities.ts'

const sql = loadQueries(new URL('shapes.sql', import.meta.url), {
  cached: ['id', 'version'],
  channels: ['id'],
  keep: ['id', 'version', 'fetchedAt', 'sport', 'shape'],
})

export type ShapeRead =
  | { readonly outcome: 'shape'; readonly shape: Shape }
  /** There are no streams to read it from, or not yet. */
  | { readonly outcome: 'no_streams'; readonly status: StreamStatus }

/**
 * Computing a shape blocks the event loop: about half a second for this many samples (28 hours at one a second). A longer recording is
 * thinned evenly to this number.
 */
const SAMPLES_MAX = 100_000

interface Cached {
  readonly athleteId: string
  readonly sport: string
  readonly status: StreamStatus
  readonly fetchedAt: Date | null
  readonly shape: Shape | null
}

export class Shapes {
  readonly #database: Database

  constructor({ database }: { readonly database: Database }) {
    this.#database = database
  }

  /** Undefined when the athlete has no such activity. */
  async read(athleteId: string, id: string): Promise<ShapeRead | undefined> {
    const [cached] = await this.#database.query<Cached>(sql.cached({ id, version: SHAPE_VERSION }))
    if (cached?.athleteId !== athleteId) return undefined
    if (cached.shape !== null) return { outcome: 'shape', shape: cached.shape }
    const [streams] = await this.#database.query<{ data: string; fetchedAt: Date }>(sql.channels({ id }))
    if (streams === undefined) return { outcome: 'no_streams', status: cached.status }
    const shape = shapeIn(cached.sport, streams.data)
    const kept = { version: SHAPE_VERSION, fetchedAt: streams.fetchedAt, sport: cached.sport, shape: JSON.stringify(shape) }
    await this.#database.query(sql.keep({ id, ...kept }))
    return { outcome: 'shape', shape }
  }
}

/** From channels as they are stored. */
export const shapeIn = (sport: string, stored: string): Shape =>
  shapeOf({ sport, channels: thinned(JSON.parse(stored) as ShapeChannels) })

/** Keeps the last sample, so that the recording keeps its length. */
function thinned(channels: ShapeChannels): ShapeChannels {
  const { length } = channels.time
  const every = Math.ceil(length / SAMPLES_MAX)
  if (every <= 1) return channels
  const isKept = (_: unknown, at: number): boolean => at % every === 0 || at === length - 1
  const kept = Object.entries<readonly unknown[] | undefined>({ ...channels }).map(([name, samples]) => [
    name,
    samples?.filter(isKept),
  ])
  return Object.fromEntries(kept) as ShapeChannels
}
