-- name: find
-- The activity of a delivery; locked, so that two deliveries come one after the other.
select id, stream_fetch_status as status
from activity
where athlete_id = $athleteId and provider = 'garmin' and external_activity_id = any ($externalIds::text[])
order by array_position($externalIds::text[], external_activity_id)
limit 1
for update;

-- name: claim
-- The streams are here, so the row need not be due.
update activity
set stream_fetch_status = 'fetching', stream_fetch_epoch = stream_fetch_epoch + 1, stream_fetch_attempted_at = $now,
    stream_fetch_error = null, stream_fetch_deferred_until = null
where id = $id and stream_is_waiting(stream_fetch_status)
returning id, athlete_id as "athleteId", provider, external_activity_id as "externalId", manual, stream_fetch_epoch as epoch,
  stream_fetch_retry_count as "retryCount", start_time as start;

-- name: look
-- New rows, and those that have waited too long and are given up; rows that still wait are left alone. They are in fetching only inside
-- this transaction.
with due as (
  select id from activity
  where stream_is_waiting(stream_fetch_status) and external_activity_id is not null and provider = 'garmin'
    and (stream_fetch_status <> 'deferred' or first_seen_at_utc <= $seenBefore)
  order by start_time
  limit 1000
  for update skip locked
)
update activity a
set stream_fetch_status = 'fetching', stream_fetch_epoch = a.stream_fetch_epoch + 1, stream_fetch_attempted_at = $now,
    stream_fetch_error = null, stream_fetch_deferred_until = null
from due where a.id = due.id
returning a.id;

-- name: wait
update activity
set stream_fetch_status = 'deferred', stream_fetch_error = $error, stream_fetch_deferred_until = $until
where id = any ($ids::uuid[]) and first_seen_at_utc > $seenBefore;

-- name: giveUp
update activity set stream_fetch_status = 'unavailable' where id = any ($ids::uuid[]) and first_seen_at_utc <= $seenBefore;
