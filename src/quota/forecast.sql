-- name: callTimes
-- How long the last calls took, how unlike each other they were, and how many of them were of which class.
select avg(ms) as mean, coalesce(stddev_samp(ms), 0) as spread,
  count(*) filter (where call_class = 'live') as live, count(*) filter (where call_class = 'backfill') as backfill
from (
  select call_class, (extract(epoch from settled_at - requested_at) * 1000)::float8 as ms
  from api_requests where vendor = $vendor and settled_at is not null
  order by requested_at desc limit 1000
) as recent
