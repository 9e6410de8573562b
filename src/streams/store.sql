-- name: claim
-- One worker of all processes gets the row, with its permit in hand, and only when it is due. Every guard is here. The vendor does not say
-- when it was uploaded: we count from when we first saw it, or from its end where it came with the whole history.
update activity
set stream_fetch_status = 'fetching', stream_fetch_epoch = stream_fetch_epoch + 1, stream_fetch_attempted_at = $now,
    stream_fetch_error = null, stream_fetch_deferred_until = null
where id = $id and stream_is_due(activity, $now, $failedOnceBefore, $failedTwiceBefore)
returning id, athlete_id as "athleteId", provider, external_activity_id as "externalId", manual, stream_fetch_epoch as epoch,
  stream_fetch_retry_count as "retryCount", start_time as start,
  case when from_full_list then least(first_seen_at_utc, start_time + interval '1 second' * coalesce(elapsed_seconds, 0))
    else first_seen_at_utc end as "settlesFrom";

-- name: succeed
-- No row: the claim was lost, so the streams must not be stored.
update activity
set stream_fetch_status = 'success', stream_fetch_error = null, stream_fetch_deferred_until = null
where id = $id and stream_fetch_epoch = $epoch and stream_fetch_status = 'fetching'
returning stream_fetch_retry_count as "retryCount";

-- name: keep
insert into activity_stream (id, activity_id, stream_data, channels_available, point_count, source, fetched_at)
values ($id, $activityId, $streamData::text::jsonb, $channels::text::jsonb, $pointCount, $source, $now)
on conflict (activity_id) do update
set stream_data = excluded.stream_data, channels_available = excluded.channels_available, point_count = excluded.point_count,
    source = excluded.source, fetched_at = excluded.fetched_at;

-- name: fail
-- The backoff counts from here, not from the beginning of the attempt.
update activity
set stream_fetch_status = 'failed', stream_fetch_error = $error, stream_fetch_retry_count = stream_fetch_retry_count + 1,
    stream_fetch_attempted_at = $now
where id = $id and stream_fetch_epoch = $epoch and stream_fetch_status = 'fetching'
returning stream_fetch_retry_count as "retryCount";

-- name: defer
-- No failure: the retry count stays.
update activity
set stream_fetch_status = 'deferred', stream_fetch_error = $error, stream_fetch_deferred_until = $until
where id = $id and stream_fetch_epoch = $epoch and stream_fetch_status = 'fetching'
returning stream_fetch_retry_count as "retryCount";

-- name: close
-- The vendor has none any more: what a reset left goes too.
with closed as (
  update activity
  set stream_fetch_status = 'unavailable'
  where id = $id and stream_fetch_epoch = $epoch and stream_fetch_status = 'fetching'
  returning id, stream_fetch_retry_count
), shape as (
  delete from activity_shape where activity_id in (select id from closed)
), streams as (
  delete from activity_stream where activity_id in (select id from closed)
)
select stream_fetch_retry_count as "retryCount" from closed;

-- name: cleanUp
-- Frees the rows of workers that died. A worker that was only slow finds its claim gone.
update activity
set stream_fetch_status = 'failed', stream_fetch_error = 'fetching_timeout_cleanup',
    stream_fetch_retry_count = stream_fetch_retry_count + 1
where stream_fetch_status = 'fetching' and stream_fetch_attempted_at < $startedBefore
returning id, athlete_id as "athleteId", stream_fetch_retry_count as "retryCount", stream_fetch_attempted_at as "attemptedAt";

-- name: reset
-- From every state but fetching. Only rows whose streams can be fetched again, unless new streams are at hand. The stored ones stay until new
-- ones take their place, and nobody reads them meanwhile: every reader asks for `success`. `stuck` means failed three times.
update activity
set stream_fetch_status = 'pending', stream_fetch_retry_count = 0, stream_fetch_error = null, stream_fetch_deferred_until = null
where id = $id and external_activity_id is not null and stream_fetch_status <> 'fetching' and ($isDelivered or provider = 'strava')
  and (not $stuckOnly or (stream_fetch_status = 'failed' and stream_fetch_retry_count >= 3))
returning id;

-- name: resetMany
-- Failed rows: all, those of one athlete, or those with a word in their error. Stored streams are left alone.
update activity
set stream_fetch_status = 'pending', stream_fetch_retry_count = 0, stream_fetch_error = null
where stream_fetch_status = 'failed' and external_activity_id is not null and provider = 'strava'
  and ($athleteId::uuid is null or athlete_id = $athleteId) and ($error::text is null or strpos(stream_fetch_error, $error) > 0)
  and (not $stuckOnly or stream_fetch_retry_count >= 3)
returning athlete_id as "athleteId";

-- name: dueAthletes
select distinct athlete_id as "athleteId"
from activity
where stream_is_due(activity, $now, $failedOnceBefore, $failedTwiceBefore);

-- name: someDue
-- Some athletes with something due, in the order of their ids, however many rows they have: whose lane was forgotten is found.
with recursive found as (
  (select athlete_id, 1 as place from activity
   where stream_fetch_status in ('pending', 'failed', 'deferred') and external_activity_id is not null and provider = 'strava'
     and athlete_id > $after
   order by athlete_id limit 1)
  union all
  select (
    select a.athlete_id from activity a
    where a.stream_fetch_status in ('pending', 'failed', 'deferred') and a.external_activity_id is not null and a.provider = 'strava'
      and a.athlete_id > s.athlete_id
    order by a.athlete_id limit 1), s.place + 1
  from found s
  where s.athlete_id is not null and s.place < $limit
)
select s.athlete_id as "athleteId", exists (
  select from activity
  where activity.athlete_id = s.athlete_id and stream_is_due(activity, $now, $failedOnceBefore, $failedTwiceBefore)) as "isDue"
from found s
where s.athlete_id is not null
order by s.place;

-- name: next
-- An athlete's next row of those that began in a span: by $order, newest or oldest; for a probe the one with the fewest attempts, so that an
-- outage does not use up the attempts of a few.
select id
from activity
where athlete_id = $athleteId and stream_is_due(activity, $now, $failedOnceBefore, $failedTwiceBefore)
  and start_time >= coalesce($from::timestamptz, '-infinity') and start_time < coalesce($to::timestamptz, 'infinity')
order by case when $leastTried then stream_fetch_retry_count end, case when $order = 'oldest' then start_time end, start_time desc, id desc
limit 1;

-- name: nextDueAt
-- When the first of those that wait will be due.
select min(case
  when stream_fetch_status = 'deferred' then stream_fetch_deferred_until
  else stream_fetch_attempted_at
    + interval '1 millisecond' * case when stream_fetch_retry_count < 2 then $onceMs::integer else $twiceMs::integer end end) as at
from activity
where athlete_id = $athleteId and stream_is_waiting(stream_fetch_status) and external_activity_id is not null and provider = 'strava'
  and (stream_fetch_status = 'deferred' or (stream_fetch_status = 'failed' and stream_fetch_retry_count < 3))
  and start_time >= coalesce($from::timestamptz, '-infinity') and start_time < coalesce($to::timestamptz, 'infinity');

-- name: owed
-- How many are still to be fetched; not those that wait for a person.
select count(*) as count
from activity
where athlete_id = $athleteId and stream_is_waiting(stream_fetch_status) and external_activity_id is not null and provider = 'strava'
  and (stream_fetch_status <> 'failed' or stream_fetch_retry_count < 3)
  and start_time >= coalesce($from::timestamptz, '-infinity') and start_time < coalesce($to::timestamptz, 'infinity');

-- name: arrived
-- Of the activities that an import has just stored, the recent ones: somebody may be waiting for them.
select id from activity
where athlete_id = $athleteId and provider = $vendor and external_activity_id = any ($externalIds::text[]) and start_time >= $since
  and stream_fetch_status = 'pending';

-- name: underWay
select id from activity a where athlete_id = $athleteId and stream_fetch_status = 'fetching'
  and not exists (select from erasure e where e.athlete_id = a.athlete_id and e.vendor = a.provider and e.older_than is null);

-- name: state
select id, athlete_id as "athleteId", provider, external_activity_id as "externalId", manual, stream_fetch_status as status,
  stream_fetch_error as error, stream_fetch_retry_count as "retryCount", stream_fetch_attempted_at as "attemptedAt",
  stream_fetch_deferred_until as "deferredUntil"
from activity a
where id = $id
  and not exists (select from erasure e where e.athlete_id = a.athlete_id and e.vendor = a.provider and e.older_than is null);

-- name: fetchedAt
select s.fetched_at as "fetchedAt"
from activity a
join activity_stream s on s.activity_id = a.id
where a.id = $id and a.athlete_id = $athleteId and a.stream_fetch_status = 'success'
  and not exists (select from erasure e where e.athlete_id = a.athlete_id and e.vendor = a.provider and e.older_than is null);

-- name: stored
-- As text, because it is sent as it is: parsing a quarter of a megabyte and writing it again would be most of the work.
select case when $samples then stream_data::text end as "streamData", channels_available as "channelsAvailable",
  point_count as "pointCount", source, fetched_at as "fetchedAt"
from activity_stream
where activity_id = $id;
