-- name: detail
-- The next detail to fetch, newest first; then, once more, what failed once in the import that began at $began. What failed after
-- $retryBefore is otherwise left alone, $backoff longer after each import that gave it up, and doubling; and so is what is about to be
-- deleted because it began before $cutoff. The second part is looked at only when the first has nothing.
(select external_activity_id as "externalId", summary ->> 'start_date' as listed, start_time as start, missing_since is not null as "isMissing", false as "hasFailed"
 from activity
 where athlete_id = $athleteId and provider = $vendor and detail_is_owed(detailed_at, detail_stale, missing_since, missing_asked)
   and start_time >= coalesce($cutoff::timestamptz, '-infinity') and (detail_failed_at is null
     or detail_failed_at < $retryBefore::timestamptz - $backoff::interval * (power(2, least(greatest(detail_given_up, 1), 6) - 1) - 1))
 order by start_time desc, id desc
 limit 1)
union all
(select external_activity_id, summary ->> 'start_date', start_time, missing_since is not null, true
 from activity
 where athlete_id = $athleteId and provider = $vendor and detail_is_owed(detailed_at, detail_stale, missing_since, missing_asked)
   and start_time >= coalesce($cutoff::timestamptz, '-infinity') and detail_failed_at >= $began and detail_failures < 2
 order by start_time desc, id desc
 limit 1)
limit 1;

-- name: photos
-- As `detail`, for the photos of activities that have their detail.
(select external_activity_id as "externalId", false as "hasFailed"
 from activity
 where athlete_id = $athleteId and provider = $vendor and photos_are_owed(detailed_at, photo_count, photos_synced_at) and missing_since is null
   and start_time >= coalesce($cutoff::timestamptz, '-infinity') and (photos_failed_at is null
     or photos_failed_at < $retryBefore::timestamptz - $backoff::interval * (power(2, least(greatest(photos_given_up, 1), 6) - 1) - 1))
 order by start_time desc, id desc
 limit 1)
union all
(select external_activity_id, true
 from activity
 where athlete_id = $athleteId and provider = $vendor and photos_are_owed(detailed_at, photo_count, photos_synced_at) and missing_since is null
   and start_time >= coalesce($cutoff::timestamptz, '-infinity') and photos_failed_at >= $began and photos_failures < 2
 order by start_time desc, id desc
 limit 1)
limit 1;

-- name: missing
-- How many activities are stored; how many of them the list that was read from $began on did not show, down to $since; how many of those
-- were missing at $waitedSince already, and how many are since then.
select count(*) as known,
  count(*) filter (where is_missing) as missing,
  count(*) filter (where is_missing and missing_since <= $waitedSince) as waited,
  count(*) filter (where is_missing and missing_since > $waitedSince) as waiting
from activity
cross join lateral (
  select last_seen_at_utc < $began and start_time >= coalesce($since::timestamptz, '-infinity')
    and (unlisted_at is null or unlisted_at <= $waitedSince) as is_missing) as m
where athlete_id = $athleteId and provider = $vendor and external_activity_id is not null;

-- name: detailFailed
-- Failures count within one import, which began at $began, also by the clock of another process. $final: a second try would not help.
update activity
set detail_failed_at = greatest($now::timestamptz, $began),
    detail_failures = case when $final then 2 when detail_failed_at >= $began then detail_failures + 1 else 1 end,
    detail_given_up = detail_given_up + case when $final or (detail_failed_at >= $began and detail_failures = 1) then 1 else 0 end
where athlete_id = $athleteId and provider = $vendor and external_activity_id = $externalId;

-- name: photosFailed
update activity
set photos_failed_at = greatest($now::timestamptz, $began),
    photos_failures = case when $final then 2 when photos_failed_at >= $began then photos_failures + 1 else 1 end,
    photos_given_up = photos_given_up + case when $final or (photos_failed_at >= $began and photos_failures = 1) then 1 else 0 end
where athlete_id = $athleteId and provider = $vendor and external_activity_id = $externalId;

-- name: seen
-- The list has them, though they could not be read.
update activity set last_seen_at_utc = $now, missing_since = null, missing_asked = false, unlisted_at = null
where athlete_id = $athleteId and provider = $vendor and external_activity_id = any ($externalIds::text[]);

-- name: markMissing
-- What the list that was read from $began on did not show, down to $since; not what turned out to be there, though unlisted, after
-- $waitedSince. Those are asked for: if $askNew the ones that a look asks for already or that this list misses first, and if $askWaited those
-- that were missing at $waitedSince.
update activity
set missing_since = coalesce(missing_since, $now),
    missing_asked = ($askNew and (missing_asked or missing_since is null)) or ($askWaited and coalesce(missing_since <= $waitedSince, false))
where athlete_id = $athleteId and provider = $vendor and external_activity_id is not null
  and start_time >= coalesce($since::timestamptz, '-infinity') and last_seen_at_utc < $began
  and (unlisted_at is null or unlisted_at <= $waitedSince);

-- name: hold
-- Missing from now on; not asked for before a second look at the whole list.
update activity set missing_since = coalesce(missing_since, $now), missing_asked = false
where athlete_id = $athleteId and provider = $vendor and external_activity_id = $externalId;

-- name: isRefreshable
-- As claimRefresh, which decides.
select from activity
where id = $id and athlete_id = $athleteId and provider = $vendor and external_activity_id is not null and missing_since is null
  and start_time >= coalesce($cutoff::timestamptz, '-infinity') and detailed_at <= $detailedBefore
  and (refresh_after is null or refresh_after <= $now);

-- name: claimRefresh
-- Somebody opened the activity: of all who do, in all processes, one fetches its detail again, when it is old enough.
update activity set refresh_after = $again
where id = $id and athlete_id = $athleteId and provider = $vendor and external_activity_id is not null and missing_since is null
  and start_time >= coalesce($cutoff::timestamptz, '-infinity') and detailed_at <= $detailedBefore
  and (refresh_after is null or refresh_after <= $now)
returning external_activity_id as "externalId";

-- name: postponeRefresh
update activity set refresh_after = $again where id = $id;
