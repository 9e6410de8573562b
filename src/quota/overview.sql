-- name: windowsSince
-- What was counted in each window; where every token has a pool of its own, all tokens together. Windows of minutes are given for today only:
-- over a month they would be tens of thousands.
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
-- The athletes with the most calls of each vendor. Null: calls for nobody, or for athletes who have disconnected.
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
-- The index begins with the vendor, and quota_learned names every vendor that was ever asked for a permit.
delete from api_requests where vendor = any (array(select vendor from quota_learned)) and requested_at < $before

-- name: pruneWindows
delete from quota_window
where vendor = any (array(select vendor from quota_learned)) and scope in ('app', 'tokens') and starts_at < $before

-- name: pruneTokens
-- What all tokens used together stays, as one counter for each window. Some at a time: there can be millions, and the embedded store does
-- nothing else meanwhile.
with pruned as (
  delete from quota_window where ctid = any (array(
    select ctid from quota_window
    where vendor = any (array(select vendor from quota_learned)) and scope not in ('app', 'tokens') and starts_at < $before
    limit $limit
  ))
  returning vendor, pool, window_name, starts_at, used
), summed as (
  insert into quota_window as w (vendor, scope, pool, window_name, starts_at, used)
  select vendor, 'tokens', pool, window_name, starts_at, sum(used) from pruned group by vendor, pool, window_name, starts_at
  on conflict (vendor, scope, pool, window_name, starts_at) do update set used = w.used + excluded.used
)
select count(*) as count from pruned
