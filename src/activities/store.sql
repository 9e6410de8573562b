-- name: storeSummaries
-- Stores a page of a list in one statement, sent as one JSON text so that a missing value shifts nothing. A field that the summary leaves
-- out keeps its value; detail, laps and photos are never touched. Sorted, so that two workers that store the same page wait for each other
-- instead of deadlocking. A summary counts as changed when it differs from the last summary, not from the columns (those may hold the
-- detail's values, which can differ for ever), by the fields of the version under which that one was stored; then its detail is stale.
-- What was entered at Strava by hand has no streams: asking would cost a call.
with given as (
  select g.id, g.external_id, m.*, g.summary, s.same, a.id is not null as is_known, a.updated_at_utc as known_update
  from jsonb_to_recordset($rows::text::jsonb) as g (
    id uuid, external_id text, name text, sport text, start_time timestamptz(3), timezone text, elapsed_seconds integer,
    moving_seconds integer, distance_meters double precision, manual boolean, photo_count integer, summary jsonb)
  left join activity a on a.athlete_id = $athleteId and a.provider = $vendor and a.external_activity_id = g.external_id
  cross join lateral (
    select a.id is not null and not exists (
      select from jsonb_array_elements_text($fields::text::jsonb -> a.summary_version::text) as f
      where nullif(a.summary -> f, 'null') is distinct from nullif(g.summary -> f, 'null')) as same) as s
  cross join lateral (
    select a.name, a.sport, a.start_time, a.timezone, a.elapsed_seconds, a.moving_seconds, a.distance_meters, a.manual, a.photo_count
    where s.same
    union all
    select coalesce(g.name, a.name, 'Untitled'), coalesce(g.sport, a.sport, 'Workout'), g.start_time, coalesce(g.timezone, a.timezone),
      coalesce(g.elapsed_seconds, a.elapsed_seconds), coalesce(g.moving_seconds, a.moving_seconds),
      coalesce(g.distance_meters, a.distance_meters), coalesce(g.manual, a.manual, false), coalesce(g.photo_count, a.photo_count, 0)
    where not s.same) as m
), stored as (
  insert into activity as a (id, athlete_id, provider, external_activity_id, name, sport, start_time, timezone, elapsed_seconds,
    moving_seconds, distance_meters, manual, photo_count, summary, summary_version, detail_stale, stream_fetch_status, from_full_list,
    first_seen_at_utc, last_seen_at_utc, updated_at_utc)
  select g.id, $athleteId, $vendor, g.external_id, g.name, g.sport, g.start_time, g.timezone, g.elapsed_seconds, g.moving_seconds,
    g.distance_meters, g.manual, g.photo_count, g.summary, $version, g.is_known and not g.same,
    case when $vendor = 'strava' and g.manual then 'unavailable' else 'pending' end, $fromFullList, $now, $now,
    case when g.same then g.known_update else $now end
  from given g
  order by g.external_id
  on conflict on constraint activity_once do update set
    name = excluded.name, sport = excluded.sport, start_time = excluded.start_time, timezone = excluded.timezone,
    elapsed_seconds = excluded.elapsed_seconds, moving_seconds = excluded.moving_seconds,
    distance_meters = excluded.distance_meters, manual = excluded.manual, photo_count = excluded.photo_count,
    photos_synced_at = case when excluded.photo_count = a.photo_count then a.photos_synced_at end,
    detail_stale = a.detail_stale or (excluded.detail_stale and a.detailed_at is not null),
    detail_failed_at = case when not excluded.detail_stale then a.detail_failed_at end,
    photos_failed_at = case when not excluded.detail_stale then a.photos_failed_at end,
    detail_given_up = case when excluded.detail_stale then 0 else a.detail_given_up end,
    photos_given_up = case when excluded.detail_stale then 0 else a.photos_given_up end,
    summary = excluded.summary, summary_version = excluded.summary_version, missing_since = null, missing_asked = false, unlisted_at = null,
    last_seen_at_utc = excluded.last_seen_at_utc, updated_at_utc = excluded.updated_at_utc
  returning a.id, a.external_activity_id, a.name, a.sport, a.start_time
)
select s.id, s.external_activity_id as "externalId", s.name, s.sport, s.start_time as start,
  case when s.id = g.id then 'inserted' when g.same then 'unchanged' else 'changed' end as stored
from stored s
join given g on g.external_id = s.external_activity_id;

-- name: storeDetails
-- Only for listed activities: a detail that comes after its activity was deleted must not bring it back. The detail is newer than the
-- summary, so its title, times and photo count win. Rows are locked in storeSummaries' order.
with given as (
  select *
  from jsonb_to_recordset($rows::text::jsonb) as g (
    external_id text, name text, sport text, start_time timestamptz(3), timezone text, elapsed_seconds integer, moving_seconds integer,
    distance_meters double precision, manual boolean, photo_count integer, description text, detail jsonb, laps jsonb, splits jsonb)
), held as (
  select a.id, a.external_activity_id, a.detailed_at is null as is_first
  from activity a
  where a.athlete_id = $athleteId and a.provider = $vendor and a.external_activity_id in (select external_id from given)
  order by a.external_activity_id
  for update
)
update activity a set
  name = coalesce(g.name, a.name), sport = coalesce(g.sport, a.sport), start_time = g.start_time,
  timezone = coalesce(g.timezone, a.timezone), elapsed_seconds = coalesce(g.elapsed_seconds, a.elapsed_seconds),
  moving_seconds = coalesce(g.moving_seconds, a.moving_seconds), distance_meters = coalesce(g.distance_meters, a.distance_meters),
  manual = coalesce(g.manual, a.manual), photo_count = coalesce(g.photo_count, a.photo_count),
  photos_synced_at = case when coalesce(g.photo_count, a.photo_count) = a.photo_count then a.photos_synced_at end,
  description = g.description, detail = g.detail, laps = coalesce(g.laps, a.laps), splits = coalesce(g.splits, a.splits),
  detailed_at = $now, detail_stale = false, detail_failed_at = null, detail_given_up = 0, last_seen_at_utc = $now,
  unlisted_at = case when a.missing_since is null then a.unlisted_at else $now end, missing_since = null, missing_asked = false,
  updated_at_utc = case
    when (a.detail, a.laps, a.splits) is not distinct from (g.detail, coalesce(g.laps, a.laps), coalesce(g.splits, a.splits))
    then a.updated_at_utc else $now end
from held h
join given g on g.external_id = h.external_activity_id
where a.id = h.id
returning a.external_activity_id as "externalId", h.is_first as "isFirst";

-- name: storePhotos
-- All photos of these activities, as the vendor has them now: one that is gone there goes here.
with given as (
  select *
  from jsonb_to_recordset($rows::text::jsonb) as g (
    external_id text, unique_id text, caption text, urls jsonb, taken_at timestamptz, location jsonb)
), held as (
  select a.id, a.external_activity_id
  from activity a
  where a.athlete_id = $athleteId and a.provider = $vendor and a.external_activity_id = any ($externalIds::text[])
  order by a.external_activity_id
  for update
), synced as (
  update activity a set photos_synced_at = $now, photos_failed_at = null, photos_given_up = 0
  from held h
  where a.id = h.id
  returning a.id, a.external_activity_id
), gone as (
  delete from activity_photo p
  using synced s
  where p.activity_id = s.id
    and not exists (select from given g where g.external_id = s.external_activity_id and g.unique_id = p.unique_id)
), kept as (
  insert into activity_photo (activity_id, unique_id, caption, urls, taken_at, location)
  select s.id, g.unique_id, g.caption, g.urls, g.taken_at, g.location
  from given g
  join synced s on s.external_activity_id = g.external_id
  on conflict (activity_id, unique_id) do update
  set caption = excluded.caption, urls = excluded.urls, taken_at = excluded.taken_at, location = excluded.location
)
select external_activity_id as "externalId"
from synced;

-- name: removeMissing
-- Photos and streams are deleted with their activity.
with held as (
  select a.id
  from activity a
  where a.athlete_id = $athleteId and a.provider = $vendor and a.external_activity_id = any ($missing::text[])
  order by a.external_activity_id
  for update
)
delete from activity a
using held h
where a.id = h.id
returning a.id, a.external_activity_id as "externalId";

-- name: storeCheckins
insert into checkin as c (id, athlete_id, provider, external_id, created_at, venue, shout, timezone_offset_minutes)
select g.id, $athleteId, $vendor, g.external_id, g.created_at, g.venue, g.shout, g.timezone_offset_minutes
from jsonb_to_recordset($rows::text::jsonb) as g (
  id uuid, external_id text, created_at timestamptz(3), venue jsonb, shout text, timezone_offset_minutes integer)
order by g.external_id
on conflict on constraint checkin_once do update
set created_at = excluded.created_at, venue = coalesce(excluded.venue, c.venue), shout = excluded.shout,
    timezone_offset_minutes = coalesce(excluded.timezone_offset_minutes, c.timezone_offset_minutes)
returning id, external_id as "externalId";

-- name: createManual
insert into activity as a (id, athlete_id, provider, name, sport, start_time, elapsed_seconds, distance_meters, manual, summary,
  stream_fetch_status, first_seen_at_utc, last_seen_at_utc, updated_at_utc)
values ($id, $athleteId, 'manual', $name, $sport, $start, $elapsedSeconds, $distanceMeters, true, '{}', 'unavailable', $now, $now, $now)
returning a.id, a.provider as vendor, a.external_activity_id as "externalId", a.name, a.sport, a.start_time as start, a.timezone,
  a.elapsed_seconds as "elapsedSeconds", a.moving_seconds as "movingSeconds", a.distance_meters as "distanceMeters", a.manual,
  a.detailed_at is not null as detailed, a.stream_fetch_status as streams;
