-- name: athletes
-- The id says the number, so that everything else of an athlete can be made from it.
insert into athlete (id, name, created_at)
select lpad(n::text, 32, '0')::uuid, 'Ada', $now::timestamptz - interval '2 years' from generate_series(1, $athletes::integer) as n

-- name: connections
-- Synced over the last two weeks: the polls' share of a day is far too small for all.
insert into connection (id, athlete_id, vendor, vendor_athlete_id, status, scopes, access_token, connected_at, consented_at, last_sync_at)
select gen_random_uuid(), lpad(n::text, 32, '0')::uuid, 'strava', n::text, 'active', '{read,activity:read_all}', '\x00',
  $now::timestamptz - interval '2 years', $now::timestamptz - interval '2 years', $now::timestamptz - random() * interval '14 days'
from generate_series(1, $athletes::integer) as n

-- name: activities
-- One a week. Of every second athlete the oldest ten have no streams yet; one athlete in a hundred has one that is past a retention of a year.
insert into activity (id, athlete_id, provider, external_activity_id, name, sport, start_time, manual, summary, detail, detailed_at,
  stream_fetch_status, first_seen_at_utc, last_seen_at_utc, updated_at_utc)
select gen_random_uuid(), lpad(n::text, 32, '0')::uuid, 'strava', (n::bigint * 100 + k)::text, 'Run', 'Run',
  $now::timestamptz - case when k = $each and n % 100 = 0 then interval '400 days' else k * interval '7 days' end,
  false, '{"id": 1, "name": "Run"}', '{"id": 1, "name": "Run"}', $now::timestamptz - interval '30 days',
  case when n % 2 = 0 and k > $each::integer - 10 then 'pending' else 'success' end,
  $now::timestamptz - interval '30 days', $now::timestamptz - interval '1 day', $now::timestamptz - interval '30 days'
from generate_series(1, $athletes::integer) as n, generate_series(1, $each::integer) as k

-- name: imports
-- Everybody's history is complete, and the whole list is due again in the course of a week.
insert into import_jobs (id, athlete_id, vendor, type, status, sync_cursor, total, created_at, started_at, finished_at, updated_at, scopes, next_full_at)
select gen_random_uuid(), lpad(n::text, 32, '0')::uuid, 'strava', 'full', 'completed', '{"activities_imported": 50}', 50, at, at, at, at,
  '{read,activity:read_all}', $now::timestamptz + random() * interval '7 days'
from generate_series(1, $athletes::integer) as n, lateral (select $now::timestamptz - random() * interval '14 days' as at) as ended

-- name: lanes
-- Who has streams to fetch is ready, served some times; the others sleep.
insert into work_lane (vendor, athlete_id, class, ready, due_at, served, owed)
select 'strava', lpad(n::text, 32, '0')::uuid, 'backfill', n % 2 = 0,
  case when n % 2 = 0 then null else $now::timestamptz + interval '1 hour' + random() * interval '1 day' end, n % 7, 10
from generate_series(1, $athletes::integer) as n

-- name: tokens
-- One athlete in ten has an Oura ring whose token was used in each short window of the last four hours.
insert into quota_window (vendor, pool, scope, window_name, starts_at, used)
select 'oura', $pool, lpad(n::text, 32, '0')::uuid::text, $window, to_timestamp((floor(extract(epoch from $now::timestamptz) / 300) - k) * 300), 3
from generate_series(1, $athletes::integer / 10) as n, generate_series(0, 47) as k
