-- name: statuses
select stream_fetch_status as status, count(*) as count from activity group by stream_fetch_status;

-- name: retries
select stream_fetch_retry_count as retries, count(*) as count
from activity
where stream_fetch_status = 'failed'
group by stream_fetch_retry_count;

-- name: athletes
-- Those with most to be done first: the page is about who waits.
select athlete_id as "athleteId",
  count(*) filter (where stream_fetch_status = 'pending') as pending,
  count(*) filter (where stream_fetch_status = 'fetching') as fetching,
  count(*) filter (where stream_fetch_status = 'success') as success,
  count(*) filter (where stream_fetch_status = 'failed') as failed,
  count(*) filter (where stream_fetch_status = 'deferred') as deferred,
  count(*) filter (where stream_fetch_status = 'unavailable') as unavailable
from activity
group by athlete_id
order by count(*) filter (where stream_fetch_status not in ('success', 'unavailable')) desc, athlete_id
limit 1000;
