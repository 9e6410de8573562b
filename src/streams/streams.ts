// The door. One activity's streams, second by second: six states, live and backfilled. Laws:
// - a request leaves only for a row that its worker has claimed, and a claim is made only with a permit in hand;
// - a worker whose claim is gone changes nothing; one that died is freed after ten minutes;
// - streams, state and event commit together; every channel is as long as `time`, or nothing is stored;
// - trouble that may pass never ends as `unavailable`, and what ended so or as `success` is not asked for again by itself.
export { Streams, type Reset, type Retried, type StreamsParts } from './desk.ts'
export { streamsEraser } from './eraser.ts'
export type { Fetched } from './fetcher.ts'
export type { StreamsAnswer } from './front.ts'
export type { Delivered } from './garmin.ts'
export type { Lock } from './lock.ts'
export { RedisLock } from './lock-redis.ts'
export { RowLock } from './lock-rows.ts'
export type { StreamsOverview } from './overview.ts'
export { REASONS, type Reason } from './reasons.ts'
export type { ShapeRead } from './shapes.ts'
export { streamLifecycle, type StreamStatus } from './stream-lifecycle.ts'
