-- name: take
-- One round trip: see quota_take in the migration for what it does and in which order.
select quota_take($id, $vendor, $athleteId, $endpoint, $callClass, $learned, $now, $busyUntil, $counters::text::quota_counter[]) as answer

-- name: end
select quota_end($id, $vendor, $answeredAt, $outcome, $status, $moves::text::quota_move[]) as answer

-- name: swapLearned
update quota_learned set learned = $to where vendor = $vendor and learned = $from returning learned

-- name: learned
select learned from quota_learned where vendor = $vendor

-- name: windows
-- The counters of the windows that began since then.
select pool, scope, window_name, starts_at, used, held from quota_window where vendor = $vendor and starts_at >= $since

-- name: callsSince
select count(*) as count from api_requests
where vendor = $vendor and endpoint = $endpoint and call_class = $callClass and requested_at >= $since

-- name: refusals
select count(*) as count from api_requests
where vendor = $vendor and endpoint = $endpoint and requested_at >= $since and outcome = 'rate_limited'
