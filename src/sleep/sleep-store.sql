-- name: rank
insert into sleep_priority as p (vendor, rank)
select vendor, n from unnest($vendors::text[]) with ordinality as v (vendor, n)
on conflict (vendor) do update set rank = excluded.rank where p.rank <> excluded.rank;

-- name: hold
-- One writer at a time for a night: each decides by what the others stored. And whoever stores a vendor's data holds the connection until the
-- commit, so that an erasure waits for it. In the same order everywhere, so that two wait for each other instead of deadlocking.
with nights as materialized (
  select user_id, date, athlete_id, vendor
  from jsonb_to_recordset($nights::text::jsonb) as n (user_id text, date date, athlete_id uuid, vendor text)
), locked as materialized (
  select pg_advisory_xact_lock(key)
  from (select distinct hashtextextended(user_id || ' ' || date::text, 0) as key from nights order by key) as keys
), held as materialized (
  select c.id from connection c
  where (c.athlete_id, c.vendor) in (select athlete_id, vendor from nights)
  order by c.id for key share of c
)
select (select count(*) from locked) as nights, (select count(*) from held) as connections;

-- name: keep
-- One sleep of each key. Nothing that was written before its athlete left the vendor: a redelivery brings nothing back. A final one is not
-- replaced by a tentative one, nor by one that was captured earlier.
insert into sleep_record as r (user_id, date, vendor, external_id, duration_minutes, quality_score, is_tentative, captured_at)
select n.user_id, n.date, n.vendor, n.external_id, n.duration_minutes, n.quality_score, n.is_tentative, n.captured_at
from jsonb_to_recordset($nights::text::jsonb) as n (
  user_id text, date date, vendor text, external_id text, duration_minutes integer, quality_score integer, is_tentative boolean,
  captured_at timestamptz, written_at timestamptz, athlete_id uuid)
where not exists (
    select from deletion_receipt d
    where d.athlete_id = n.athlete_id and d.vendor = n.vendor and d.cause <> 'retention' and d.deleted_at >= n.written_at)
  and not exists (select from erasure e where e.athlete_id = n.athlete_id and e.vendor = n.vendor and e.older_than is null)
order by n.user_id, n.date, n.vendor, n.external_id
on conflict (user_id, date, vendor, external_id) do update set
  duration_minutes = excluded.duration_minutes, quality_score = excluded.quality_score, is_tentative = excluded.is_tentative,
  captured_at = excluded.captured_at
where case when r.is_tentative <> excluded.is_tentative then r.is_tentative else excluded.captured_at >= r.captured_at end;

-- name: settle
-- Of each day the night that counts: of the vendor that goes first, a final one before a tentative one, the longest, the latest. Only what
-- changes is told.
-- One look for each day: a join would read the whole table as long as that has some thousand rows.
with keys as materialized (
  select distinct on (user_id, date) user_id, date, traceparent
  from jsonb_to_recordset($nights::text::jsonb) as k (user_id text, date date, traceparent text)
  order by user_id, date
), best as (
  select r.*
  from keys k
  cross join lateral (
    select r.*
    from sleep_record r
    left join sleep_priority p on p.vendor = r.vendor
    where r.user_id = k.user_id and r.date = k.date
    order by coalesce(p.rank, 100), r.is_tentative, r.duration_minutes desc, r.captured_at desc, r.external_id
    limit 1
  ) as r
), gone as (
  delete from sleep_data d
  using (select user_id, date from keys except select user_id, date from best) as k
  where d.user_id = k.user_id and d.date = k.date
), stored as (
  insert into sleep_data as d (user_id, date, duration_minutes, quality_score, vendor, captured_at)
  select user_id, date, duration_minutes, quality_score, vendor, captured_at from best
  on conflict (user_id, date) do update set
    duration_minutes = excluded.duration_minutes, quality_score = excluded.quality_score, vendor = excluded.vendor,
    captured_at = excluded.captured_at
  where (d.duration_minutes, d.quality_score, d.vendor, d.captured_at)
    is distinct from (excluded.duration_minutes, excluded.quality_score, excluded.vendor, excluded.captured_at)
  returning d.*
), told as (
  insert into outbox (id, subject, payload, created_at, traceparent)
  select gen_random_uuid(), 'athlete-ally.sleep.normalized-stored',
    jsonb_build_object('record', jsonb_strip_nulls(jsonb_build_object(
      'userId', s.user_id, 'date', s.date, 'durationMinutes', s.duration_minutes, 'qualityScore', s.quality_score, 'vendor', s.vendor,
      'capturedAt', to_char(s.captured_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))),
    $now, k.traceparent
  from stored s join keys k on k.user_id = s.user_id and k.date = s.date
  returning id
)
select count(*) as told, pg_notify('paceline_outbox', '') from told having count(*) > 0;

-- name: probe
-- Nobody's night, in a transaction that is undone: an empty name is no person's.
with one as (
  insert into sleep_record (user_id, date, vendor, duration_minutes, captured_at)
  values ('', '2000-01-01', gen_random_uuid()::text, 0, '2000-01-01')
)
insert into sleep_data (user_id, date, duration_minutes, vendor, captured_at)
values (gen_random_uuid()::text, '2000-01-01', 0, '', '2000-01-01');

-- name: list
-- Newest first. What is being erased is not shown.
select d.date::text as date, d.duration_minutes, d.quality_score, d.vendor, d.captured_at
from sleep_data d
where d.user_id = $userId and ($from::date is null or d.date >= $from) and ($to::date is null or d.date <= $to)
  and ($after::date is null or d.date < $after)
  and not exists (
    select from erasure e where e.athlete_id::text = d.user_id and e.vendor = d.vendor and e.older_than is null)
order by d.date desc
limit $limit;
