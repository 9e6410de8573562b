-- name: take
-- One round trip: see quota_take in the migration for what it does and in which order.
select quota_take($id, $vendor, $athleteId, $endpoint, $callClass, $learned, $now, $busyUntil, $counters::text::quota_counter[]) as answer

-- name: end
select quota_end($id, $vendor, $answeredAt, $outcome, $status, $moves::text::quota_move[]) as answer

-- name: swapLearned
update quota_learned set learned = $to where vendor = $vendor and learned = $from returning learned

-- name: learned
select learned from quota_learned where vendor = $vendor

-- name: counted
-- The counters of these meters since then: the window before, the present one and the one after. Each meter is looked for by the primary
-- key (the limit keeps the planner from joining with everything that a vendor has), so other tokens' counters are not touched.
select w.pool, w.scope, w.window_name, w.starts_at, w.used, w.held
from unnest($pools::text[], $scopes::text[], $windows::text[], $since::timestamptz[]) as m (pool, scope, window_name, since)
cross join lateral (
  select * from quota_window
  where vendor = $vendor and scope = m.scope and pool = m.pool and window_name = m.window_name and starts_at >= m.since
  order by starts_at limit 3
) as w

-- name: windows
-- Every counter of the windows that began since then: the application's by primary key, the tokens' by their own index.
select pool, scope, window_name, starts_at, used, held
from quota_window where vendor = $vendor and scope = 'app' and starts_at >= $since
union all
select pool, scope, window_name, starts_at, used, held
from quota_window where vendor = $vendor and scope not in ('app', 'tokens') and starts_at >= $since

-- name: callsSince
select count(*) as count from api_requests
where vendor = $vendor and endpoint = $endpoint and call_class = $callClass and requested_at >= $since

-- name: refusals
select count(*) as count from api_requests
where vendor = $vendor and endpoint = $endpoint and requested_at >= $since and outcome = 'rate_limited'
