-- name: callTimes
-- How long the last calls took, and how unlike each other they were.
select avg(ms) as mean, coalesce(stddev_samp(ms), 0) as spread
from (
  select (extract(epoch from settled_at - requested_at) * 1000)::float8 as ms
  from api_requests where vendor = $vendor and settled_at is not null
  order by requested_at desc limit 200
) as recent
