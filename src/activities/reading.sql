-- name: list
-- A page, newest first, after the place ($at, $id) where the page before ended; nulls ask for everything. Of a multi-sport activity the
-- legs are listed, not their sum.
select a.id, a.provider as vendor, a.external_activity_id as "externalId", a.name, a.sport, a.start_time as start, a.timezone,
  a.elapsed_seconds as "elapsedSeconds", a.moving_seconds as "movingSeconds", a.distance_meters as "distanceMeters", a.manual,
  a.detailed_at is not null as detailed, a.stream_fetch_status as streams
from activity a
where a.athlete_id = $athleteId and activity_is_shown(a)
  and (a.start_time, a.id) < (coalesce($at::timestamptz, 'infinity'), coalesce($id::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
  and ($sport::text is null or a.sport = $sport)
  and a.start_time >= coalesce($from::timestamptz, '-infinity') and a.start_time < coalesce($to::timestamptz, 'infinity')
  and ($streams::text is null or a.stream_fetch_status = $streams)
  and not exists (select from erasure e where e.athlete_id = a.athlete_id and e.vendor = a.provider and e.older_than is null)
order by a.start_time desc, a.id desc
limit $limit;

-- name: read
select a.id, a.provider as vendor, a.external_activity_id as "externalId", a.name, a.sport, a.start_time as start, a.timezone,
  a.elapsed_seconds as "elapsedSeconds", a.moving_seconds as "movingSeconds", a.distance_meters as "distanceMeters", a.manual,
  a.detailed_at is not null as detailed, a.stream_fetch_status as streams, a.description, coalesce(a.laps, '[]') as laps
from activity a
where a.athlete_id = $athleteId and a.id = $id
  and not exists (select from erasure e where e.athlete_id = a.athlete_id and e.vendor = a.provider and e.older_than is null);

-- name: photos
select unique_id as id, caption, urls, taken_at as "takenAt", location
from activity_photo
where activity_id = $id
order by taken_at nulls last, unique_id;

-- name: counts
-- The photo counts count activities, because one call fetches all photos of an activity. Those still to come are known from the list: it
-- says how many photos an activity has before its detail does.
select count(*) as listed, count(detailed_at) as detailed,
  count(*) filter (where detailed_at is null and (detail_failed_at is not null or missing_since is not null)) as parked,
  count(*) filter (where detail_is_owed(detailed_at, detail_stale, missing_since, missing_asked) and detail_failed_at is null) as "detailsOwed",
  count(*) filter (where photo_count > 0 and photos_synced_at is null and missing_since is null
    and (detailed_at is not null or detail_failed_at is null)) as "photosOwed",
  count(photos_synced_at) as "photosSynced"
from activity
where athlete_id = $athleteId and provider = $vendor and activity_is_shown(activity);

-- name: lastZone
select a.timezone
from activity a
where a.athlete_id = $athleteId and a.timezone is not null
  and not exists (select from erasure e where e.athlete_id = a.athlete_id and e.vendor = a.provider and e.older_than is null)
order by start_time desc
limit 1;

-- name: listCheckins
select id, provider as vendor, external_id as "externalId", created_at as at, venue, shout,
  timezone_offset_minutes as "timezoneOffsetMinutes"
from checkin c
where athlete_id = $athleteId
  and not exists (select from erasure e where e.athlete_id = c.athlete_id and e.vendor = c.provider and e.older_than is null)
  and (created_at, id) < (coalesce($at::timestamptz, 'infinity'), coalesce($id::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
order by created_at desc, id desc
limit $limit;

-- name: countCheckins
select count(*) as count
from checkin
where athlete_id = $athleteId;
