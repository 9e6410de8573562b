-- name: list
-- A page, newest first, after the last row ($2, $3) of the previous page. A null filter matches everything. $6 is exclusive.
select a.id, a.provider as vendor, a.external_activity_id as "externalId", a.name, a.sport, a.start_time as start, a.timezone,
  a.elapsed_seconds as "elapsedSeconds", a.moving_seconds as "movingSeconds", a.distance_meters as "distanceMeters", a.manual,
  a.detailed_at is not null as detailed, a.stream_fetch_status as streams
from activity a
where a.athlete_id = $1
  and (a.start_time, a.id) < (coalesce($2::timestamptz, 'infinity'), coalesce($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
  and ($4::text is null or a.sport = $4)
  and a.start_time >= coalesce($5::timestamptz, '-infinity') and a.start_time < coalesce($6::timestamptz, 'infinity')
  and ($7::text is null or a.stream_fetch_status = $7)
order by a.start_time desc, a.id desc
limit $8;

-- name: read
select a.id, a.provider as vendor, a.external_activity_id as "externalId", a.name, a.sport, a.start_time as start, a.timezone,
  a.elapsed_seconds as "elapsedSeconds", a.moving_seconds as "movingSeconds", a.distance_meters as "distanceMeters", a.manual,
  a.detailed_at is not null as detailed, a.stream_fetch_status as streams, a.description, coalesce(a.laps, '[]') as laps
from activity a
where a.athlete_id = $1 and a.id = $2;

-- name: photos
select unique_id as id, caption, urls, taken_at as "takenAt", location
from activity_photo
where activity_id = $1
order by taken_at nulls last, unique_id;

-- name: owed
-- Activities without a detail, and those in $5, whose detail is out of date. Leaves out what failed after $6.
select external_activity_id as "externalId"
from activity
where athlete_id = $1 and provider = $2 and (detailed_at is null or external_activity_id = any ($5::text[]))
  and external_activity_id <> all ($3::text[]) and (detail_failed_at is null or detail_failed_at <= $6)
order by start_time desc, id desc
limit $4;

-- name: owedPhotos
-- Leaves out what failed after $5.
select external_activity_id as "externalId"
from activity
where athlete_id = $1 and provider = $2 and detailed_at is not null and photo_count > 0 and photos_synced_at is null
  and external_activity_id <> all ($3::text[]) and (photos_failed_at is null or photos_failed_at <= $5)
order by start_time desc, id desc
limit $4;

-- name: counts
-- The photo counts count activities, because one call fetches all photos of an activity.
select count(*) as listed, count(detailed_at) as detailed,
  count(*) filter (where detailed_at is null and detail_failed_at is not null) as parked,
  count(*) filter (where detailed_at is not null and photo_count > 0 and photos_synced_at is null) as "photosOwed",
  count(photos_synced_at) as "photosSynced"
from activity
where athlete_id = $1 and provider = $2;

-- name: startedSince
select external_activity_id as "externalId"
from activity
where athlete_id = $1 and provider = $2 and start_time >= $3;

-- name: lastZone
select timezone
from activity
where athlete_id = $1 and timezone is not null
order by start_time desc
limit 1;

-- name: listCheckins
select id, provider as vendor, external_id as "externalId", created_at as at, venue, shout,
  timezone_offset_minutes as "timezoneOffsetMinutes"
from checkin
where athlete_id = $1
  and (created_at, id) < (coalesce($2::timestamptz, 'infinity'), coalesce($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
order by created_at desc, id desc
limit $4;

-- name: countCheckins
select count(*) as count
from checkin
where athlete_id = $1;
