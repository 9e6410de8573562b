-- name: take
-- One round trip: see quota_take in the migration for what it does and in which order.
select quota_take($1, $2, $3, $4, $5, $6, $7, $8, $9::text::quota_counter[]) as answer

-- name: end
select quota_end($1, $2, $3, $4, $5, $6::text::quota_move[]) as answer

-- name: swapLearned
update quota_terms set terms = $3 where vendor = $1 and terms = $2 returning terms as learned

-- name: learned
select terms as learned from quota_terms where vendor = $1

-- name: windows
-- The counters of the windows that began since then.
select pool, scope, window_name, starts_at, used, held from quota_window where vendor = $1 and starts_at >= $2

-- name: refusals
select count(*) as count from api_requests
where vendor = $1 and endpoint = $2 and requested_at >= $3 and outcome = 'rate_limited'
