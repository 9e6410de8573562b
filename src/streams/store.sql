-- name: claim
-- One worker among all processes, after its permit, and only when it is due: every guard is here. $2 now, $3 and $4: failed before
-- then the first and the second time. Garmin's are not asked for.
update activity
set stream_fetch_status = 'fetching', stream_fetch_epoch = stream_fetch_epoch + 1, stream_fetch_attempted_at = $2,
    stream_fetch_error = null, stream_fetch_deferred_until = null
where id = $1 and external_activity_id is not null and provider = 'strava'
  and (stream_fetch_status = 'pending'
    or (stream_fetch_status = 'failed' and stream_fetch_retry_count < 3
      and stream_fetch_attempted_at <= case when stream_fetch_retry_count < 2 then $3::timestamptz else $4::timestamptz end)
    or (stream_fetch_status = 'deferred' and stream_fetch_deferred_until <= $2))
returning id, athlete_id as "athleteId", provider, external_activity_id as "externalId", manual, stream_fetch_epoch as epoch,
  stream_fetch_retry_count as "retryCount", first_seen_at_utc as "firstSeenAt", start_time as start;

-- name: succeed
-- No row: the claim is another's now, and the streams must not be stored either.
update activity
set stream_fetch_status = 'success', stream_fetch_error = null, stream_fetch_deferred_until = null
where id = $1 and stream_fetch_epoch = $2 and stream_fetch_status = 'fetching'
returning stream_fetch_retry_count as "retryCount";

-- name: keep
insert into activity_stream (id, activity_id, stream_data, channels_available, point_count, source, fetched_at)
values ($1, $2, $3::text::jsonb, $4::text::jsonb, $5, $6, $7)
on conflict (activity_id) do update
set stream_data = excluded.stream_data, channels_available = excluded.channels_available, point_count = excluded.point_count,
    source = excluded.source, fetched_at = excluded.fetched_at;

-- name: fail
-- The backoff counts from here, not from the beginning of the attempt.
update activity
set stream_fetch_status = 'failed', stream_fetch_error = $3, stream_fetch_retry_count = stream_fetch_retry_count + 1,
    stream_fetch_attempted_at = $4
where id = $1 and stream_fetch_epoch = $2 and stream_fetch_status = 'fetching'
returning stream_fetch_retry_count as "retryCount";

-- name: defer
-- Nobody's fault: the retry count stays.
update activity
set stream_fetch_status = 'deferred', stream_fetch_error = $3, stream_fetch_deferred_until = $4
where id = $1 and stream_fetch_epoch = $2 and stream_fetch_status = 'fetching'
returning stream_fetch_retry_count as "retryCount";

-- name: close
update activity
set stream_fetch_status = 'unavailable'
where id = $1 and stream_fetch_epoch = $2 and stream_fetch_status = 'fetching'
returning stream_fetch_retry_count as "retryCount";

-- name: cleanUp
-- Workers that died. One that was only slow finds its claim gone.
update activity
set stream_fetch_status = 'failed', stream_fetch_error = 'fetching_timeout_cleanup',
    stream_fetch_retry_count = stream_fetch_retry_count + 1
where stream_fetch_status = 'fetching' and stream_fetch_attempted_at < $1
returning id, athlete_id as "athleteId", stream_fetch_retry_count as "retryCount", stream_fetch_attempted_at as "attemptedAt";

-- name: reset
-- From every state but fetching; a pending one begins anew too. $2: only what failed three times. $3: new ones are at hand; else only
-- what can be asked for again, for what is there is forgotten.
update activity
set stream_fetch_status = 'pending', stream_fetch_retry_count = 0, stream_fetch_error = null, stream_fetch_deferred_until = null
where id = $1 and external_activity_id is not null and stream_fetch_status <> 'fetching' and ($3 or provider = 'strava')
  and (not $2 or (stream_fetch_status = 'failed' and stream_fetch_retry_count >= 3))
returning id;

-- name: forget
-- What is to be fetched anew is not shown meanwhile, and must not stay behind if there turns out to be none.
with shape as (delete from activity_shape where activity_id = $1)
delete from activity_stream where activity_id = $1;

-- name: resetMany
-- All that failed, or those of one athlete ($1), or those with a word in their error ($2). Stored streams are left alone.
update activity
set stream_fetch_status = 'pending', stream_fetch_retry_count = 0, stream_fetch_error = null
where stream_fetch_status = 'failed' and external_activity_id is not null and provider = 'strava'
  and ($1::uuid is null or athlete_id = $1) and ($2::text is null or strpos(stream_fetch_error, $2) > 0)
  and (not $3 or stream_fetch_retry_count >= 3)
returning athlete_id as "athleteId";

-- name: dueAthletes
-- $1 now, $2 and $3 as in claim.
select distinct athlete_id as "athleteId"
from activity
where stream_fetch_status in ('pending', 'failed', 'deferred') and external_activity_id is not null and provider = 'strava'
  and (stream_fetch_status = 'pending'
    or (stream_fetch_status = 'failed' and stream_fetch_retry_count < 3
      and stream_fetch_attempted_at <= case when stream_fetch_retry_count < 2 then $2::timestamptz else $3::timestamptz end)
    or (stream_fetch_status = 'deferred' and stream_fetch_deferred_until <= $1));

-- name: batch
-- An athlete's next ones: recent ones ($5: since) first, then by $6, newest or oldest.
-- Hazard: the locks end with this statement; they only keep two who look at once apart, and the claim decides.
select id, athlete_id as "athleteId", start_time >= $5 as recent
from activity
where athlete_id = $1 and stream_fetch_status in ('pending', 'failed', 'deferred') and external_activity_id is not null
  and provider = 'strava'
  and (stream_fetch_status = 'pending'
    or (stream_fetch_status = 'failed' and stream_fetch_retry_count < 3
      and stream_fetch_attempted_at <= case when stream_fetch_retry_count < 2 then $3::timestamptz else $4::timestamptz end)
    or (stream_fetch_status = 'deferred' and stream_fetch_deferred_until <= $2))
order by start_time >= $5 desc, case when $6 = 'oldest' then start_time end, start_time desc, id desc
limit $7
for update skip locked;

-- name: leastTried
-- For a probe, of all athletes in $1, so that an outage does not use up the attempts of a few. $2 to $5 as in batch.
select id, athlete_id as "athleteId", start_time >= $5 as recent
from activity
where athlete_id = any ($1::uuid[]) and stream_fetch_status in ('pending', 'failed', 'deferred') and external_activity_id is not null
  and provider = 'strava'
  and (stream_fetch_status = 'pending'
    or (stream_fetch_status = 'failed' and stream_fetch_retry_count < 3
      and stream_fetch_attempted_at <= case when stream_fetch_retry_count < 2 then $3::timestamptz else $4::timestamptz end)
    or (stream_fetch_status = 'deferred' and stream_fetch_deferred_until <= $2))
order by stream_fetch_retry_count, start_time desc, id desc
limit 1;

-- name: arrived
-- Of what an import has just stored, what is fresh enough that somebody may be waiting for it.
select id from activity
where athlete_id = $1 and provider = $2 and external_activity_id = any ($3::text[]) and start_time >= $4
  and stream_fetch_status = 'pending';

-- name: underWay
select id from activity where athlete_id = $1 and stream_fetch_status = 'fetching';

-- name: state
select id, athlete_id as "athleteId", provider, external_activity_id as "externalId", manual, stream_fetch_status as status,
  stream_fetch_error as error, stream_fetch_retry_count as "retryCount", stream_fetch_attempted_at as "attemptedAt",
  stream_fetch_deferred_until as "deferredUntil"
from activity
where id = $1;

-- name: fetchedAt
select s.fetched_at as "fetchedAt"
from activity a
join activity_stream s on s.activity_id = a.id
where a.id = $1 and a.athlete_id = $2 and a.stream_fetch_status = 'success';

-- name: stored
-- As text: it is handed on as it is, and parsing a quarter of a megabyte only to write it again would be most of the work.
-- $2 false: without them.
select case when $2 then stream_data::text end as "streamData", channels_available as "channelsAvailable", point_count as "pointCount", source,
  fetched_at as "fetchedAt"
from activity_stream
where activity_id = $1;
