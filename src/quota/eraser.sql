-- name: unlink
-- $3 null: all of them. The call stays, because the quota that it spent stays spent.
update api_requests set athlete_id = null
where athlete_id = $1 and vendor = $2 and ($3::timestamptz is null or requested_at < $3)

-- name: forgetTurns
delete from quota_turn
where athlete_id = $1 and vendor = $2 and ($3::timestamptz is null or present_until < $3)

-- name: forgetCounts
-- A token's own counters name the athlete. The present window of each stays until it is over: connecting again buys no new quota.
delete from quota_window w
where w.scope = $1::text and w.vendor = $2 and ($3::timestamptz is null or w.starts_at < $3)
  and exists (
    select from quota_window newer
    where newer.vendor = w.vendor and newer.scope = w.scope and newer.pool = w.pool and newer.window_name = w.window_name
      and newer.starts_at > w.starts_at
  )
