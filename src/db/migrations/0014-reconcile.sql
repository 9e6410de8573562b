-- What an import compares and owes is kept on the activity, not in lists inside a cursor.
-- By which fields the stored summary is compared with the next one: src/activities/summary-fields.ts.
alter table activity add column summary_version smallint not null default 1;
-- The detail is to be fetched again, because the summary has changed.
alter table activity add column detail_stale boolean not null default false;
-- Failures in a row within one import; detail_failed_at and photos_failed_at say when the last one was.
alter table activity add column detail_failures smallint not null default 0;
alter table activity add column photos_failures smallint not null default 0;
-- How many imports have given it up in a row: polls leave it alone longer and longer.
alter table activity add column detail_given_up smallint not null default 0;
alter table activity add column photos_given_up smallint not null default 0;
-- Somebody opened it, and its detail was asked for again: not once more before this time.
alter table activity add column refresh_after timestamptz;
-- Since when the list has not shown it; null again as soon as the vendor shows it.
alter table activity add column missing_since timestamptz;
-- Missing, and its detail is to tell whether it is gone. Without this a missing activity is left alone.
alter table activity add column missing_asked boolean not null default false;
-- When its detail was there although the list did not show it: it is not asked for again at once.
alter table activity add column unlisted_at timestamptz;

create function detail_is_owed(detailed_at timestamptz, detail_stale boolean, missing_since timestamptz, missing_asked boolean)
  returns boolean language sql immutable parallel safe
  return missing_asked or (missing_since is null and (detail_stale or detailed_at is null));
create function photos_are_owed(detailed_at timestamptz, photo_count integer, photos_synced_at timestamptz) returns boolean
  language sql immutable parallel safe
  return detailed_at is not null and photo_count > 0 and photos_synced_at is null;
drop index activity_owed;
create index activity_owed on activity (athlete_id, provider, start_time desc, id desc)
  where missing_asked or (missing_since is null and (detail_stale or detailed_at is null));
create index activity_photos_owed on activity (athlete_id, provider, start_time desc, id desc)
  where detailed_at is not null and photo_count > 0 and photos_synced_at is null;

-- The scopes of the connection when the import was created: a history looks different with others.
alter table import_jobs add column scopes text[] not null default '{}';
-- How many list calls it was expected to cost, for the polls' share of the budget; 0 for a first import.
alter table import_jobs add column list_calls integer not null default 0;
-- Only on the import that last read the whole list: when it is to be read again.
alter table import_jobs add column next_full_at timestamptz;
create index import_jobs_next_full on import_jobs (next_full_at) where next_full_at is not null;
create index import_jobs_polls on import_jobs (vendor, type, created_at) where list_calls > 0;

update import_jobs j
set scopes = array_remove(c.scopes, 'activity:write')
  || case when 'activity:read_all' = any (c.scopes) then array['activity:read'] else array[]::text[] end
from connection c
where c.athlete_id = j.athlete_id and c.vendor = j.vendor;
update import_jobs set list_calls = 2 where type = 'incremental';
-- An upgrade makes nobody's whole list due at once: they are spread over a week, those read longest ago first. Of an athlete whose full
-- import was pruned long ago, the last poll says it.
update import_jobs j set next_full_at = n.at + interval '7 days' * n.place / n.many
from (
  select id, (select max(updated_at) from import_jobs) as at, row_number() over (order by finished_at) as place, count(*) over () as many
  from (
    select distinct on (athlete_id) id, finished_at
    from import_jobs
    where status = 'completed' and vendor = 'strava'
    order by athlete_id, type = 'full' desc, id desc
  ) as newest
) as n
where n.id = j.id;

-- A full import may wait for the poll that runs; of one type there is still one, and one at work.
drop index import_jobs_one_live;
create unique index import_jobs_one_live on import_jobs (athlete_id, vendor, type) where status in ('queued', 'started', 'rate_limited');
create unique index import_jobs_one_started on import_jobs (athlete_id, vendor) where status = 'started';

-- Cursors of today are carried over; each vendor's has its own fields from now on. What a cursor listed becomes a mark on its row.
update activity a set detail_stale = true
from import_jobs j
where j.vendor = 'strava' and j.status <> 'completed' and a.athlete_id = j.athlete_id and a.provider = j.vendor
  and a.detailed_at is not null and j.sync_cursor -> 'changed' ? a.external_activity_id;
update activity a set detail_failed_at = coalesce(a.detail_failed_at, j.updated_at), detail_failures = 1
from import_jobs j
where j.vendor = 'strava' and import_is_live(j.status) and a.athlete_id = j.athlete_id and a.provider = j.vendor
  and j.sync_cursor -> 'later' ? a.external_activity_id;

update import_jobs set sync_cursor = (sync_cursor - array['later', 'changed', 'withoutPhotos', 'laterPhotos', 'seen', 'from', 'listedAt'])
  || jsonb_build_object(
    'phase', case when sync_cursor ->> 'phase' = 'list' then 'list' else 'fetch' end,
    'look', jsonb_build_object('isWhole', sync_cursor ->> 'phase' = 'list', 'began',
      coalesce((sync_cursor ->> 'listedAt')::bigint, floor(extract(epoch from coalesce(started_at, created_at)))::bigint)))
where vendor = 'strava' and sync_cursor ? 'phase';
-- A poll reads a page or two: it begins anew.
update import_jobs set sync_cursor = '{}' where type = 'incremental' and import_is_live(status);

update import_jobs set sync_cursor = jsonb_strip_nulls(jsonb_build_object(
  'newest', sync_cursor -> 'from', 'before', sync_cursor -> 'before', 'heard', sync_cursor -> 'heard',
  'nights_imported', sync_cursor -> 'activities_imported', 'trouble', sync_cursor -> 'trouble', 'faults', sync_cursor -> 'faults'))
where vendor in ('oura', 'whoop') and sync_cursor <> '{}';

update import_jobs set sync_cursor = jsonb_strip_nulls(jsonb_build_object(
  'newest', sync_cursor -> 'from', 'before', sync_cursor -> 'before', 'page', sync_cursor -> 'page',
  'walk', case when sync_cursor ->> 'phase' = 'again' then 'number' else 'time' end,
  'checkins_imported', sync_cursor -> 'activities_imported', 'trouble', sync_cursor -> 'trouble', 'faults', sync_cursor -> 'faults'))
where vendor = 'foursquare' and sync_cursor <> '{}';

-- Of the range in hand Garmin may have been asked for one or two types already: it answers that it was, which is as good as a grant.
update import_jobs set sync_cursor = jsonb_strip_nulls(jsonb_build_object(
  'phase', case when sync_cursor ->> 'phase' = 'push' then 'push' else 'ask' end,
  'newest', sync_cursor -> 'from', 'granted', sync_cursor -> 'granted', 'known', sync_cursor -> 'known', 'heard', sync_cursor -> 'heard',
  'owed', case when sync_cursor ->> 'phase' = 'push' then '[]'::jsonb else (
    select jsonb_agg(jsonb_build_object('type', t, 'to', sync_cursor -> 'before', 'from', (sync_cursor ->> 'from')::bigint - 5 * 365 * 86400))
    from unnest(array['activities', 'activityDetails', 'sleeps']) as t) end,
  'activities_imported', sync_cursor -> 'activities_imported', 'trouble', sync_cursor -> 'trouble', 'faults', sync_cursor -> 'faults'))
where vendor = 'garmin' and sync_cursor ? 'known';
