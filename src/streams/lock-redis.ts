// The Lock port in Redis: the owner's token under one key, compared before it is deleted.
import { loadScript, type Redis } from '../redis/redis.ts'
import type { Lock } from './lock.ts'

const take = loadScript(new URL('./lock-take.lua', import.meta.url))
const release = loadScript(new URL('./lock-release.lua', import.meta.url))

const keyOf = (athleteId: string): string => `strava:stream_backfill:${athleteId}`

export class RedisLock implements Lock {
  readonly #redis: Redis

  constructor(redis: Redis) {
    this.#redis = redis
  }

  async take(athleteId: string, owner: string, ttlMs: number): Promise<boolean> {
    return (await this.#redis.run(take, [keyOf(athleteId)], [owner, ttlMs])) === 1
  }

  async release(athleteId: string, owner: string): Promise<boolean> {
    return (await this.#redis.run(release, [keyOf(athleteId)], [owner])) === 1
  }
}
