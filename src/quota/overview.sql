-- name: windowsSince
-- What was counted in each window; where every token has a pool of its own, by all of them together. Windows of minutes would be
-- tens of thousands over a month: they are told of today only.
select vendor, pool, window_name, starts_at, sum(used)::integer as used
from quota_window
where vendor = any($vendors::text[]) and used > 0
  and starts_at >= case when window_name in ('minute', '5min') then $today::timestamptz else $since::timestamptz end
group by vendor, pool, window_name, starts_at
order by vendor, pool, window_name, starts_at

-- name: endpointsSince
select vendor, endpoint, call_class, count(*) as calls, count(*) filter (where outcome = 'rate_limited') as refused
from api_requests
where vendor = any($vendors::text[]) and requested_at >= $since
group by vendor, endpoint, call_class
order by vendor, calls desc, endpoint, call_class

-- name: athletesSince
-- The most eager ones of each vendor; null are the calls for nobody and those of who has parted.
select vendor, athlete_id, calls
from (
  select vendor, athlete_id, count(*) as calls,
    row_number() over (partition by vendor order by count(*) desc, athlete_id) as place
  from api_requests
  where vendor = any($vendors::text[]) and requested_at >= $since
  group by vendor, athlete_id
) ranked
where place <= $limit
order by vendor, place

-- name: pruneLedger
delete from api_requests where requested_at < $before

-- name: pruneWindows
delete from quota_window where starts_at < $before
