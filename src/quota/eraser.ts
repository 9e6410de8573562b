// When an athlete disconnects a vendor, the calls that were made for them keep counting but no longer name them. A closure of a token's own
// pool (quota_learned) names the athlete too; it ends within the hour and is dropped with the next write. Retention concerns what the vendor
// delivered: our own book of calls is pruned after KEPT_DAYS, whoever they were for.
import { loadEraser } from '../db/db.ts'

export const quotaEraser = loadEraser(new URL('eraser.sql', import.meta.url), {
  api_requests: 'uncounted',
  quota_window: 'uncounted',
})
