-- name: api_requests
-- The call stays, because the quota that it spent stays spent.
update api_requests set athlete_id = null
where id in (
  select id from api_requests
  where athlete_id = $athleteId and vendor = $vendor and $before::timestamptz is null
  limit $limit)
returning 1 as erased;

-- name: quota_window
-- A token's own counters name the athlete. The present window of each stays until it is over: connecting again buys no new quota.
delete from quota_window
where ctid = any (array(
  select w.ctid from quota_window w
  where w.scope = $athleteId::text and w.vendor = $vendor and $before::timestamptz is null
    and exists (
      select from quota_window newer
      where newer.vendor = w.vendor and newer.scope = w.scope and newer.pool = w.pool and newer.window_name = w.window_name
        and newer.starts_at > w.starts_at)
  limit $limit))
returning 1 as erased;
