-- Each sleep that a vendor told of, and of those of one day the one that counts.
create table sleep_record (
  -- an athlete's id, or any name that whoever ingests has for a person
  user_id text not null,
  date date not null,
  vendor text not null,
  -- the vendor's own id; empty where none was said
  external_id text not null default '',
  duration_minutes integer not null constraint sleep_record_duration check (duration_minutes between 0 and 1440),
  quality_score integer constraint sleep_record_score check (quality_score between 0 and 100),
  -- the vendor will send a better one
  is_tentative boolean not null default false,
  captured_at timestamptz(3) not null,
  primary key (user_id, date, vendor, external_id)
);
create index sleep_record_age on sleep_record (vendor, date, user_id);

create table sleep_data (
  user_id text not null,
  date date not null,
  duration_minutes integer not null constraint sleep_data_duration check (duration_minutes between 0 and 1440),
  quality_score integer constraint sleep_data_score check (quality_score between 0 and 100),
  vendor text not null,
  captured_at timestamptz(3) not null,
  constraint sleep_data_once unique (user_id, date)
);

-- PACELINE_SLEEP_PRIORITY as the normalising processes have it; a lower rank counts before a higher one.
create table sleep_priority (
  vendor text primary key,
  rank smallint not null
);

-- A batch of nights is one statement for the client, and one transaction: five of its own cost more than what they do.

-- One writer at a time for a night: each decides by what the others stored. And whoever stores a vendor's data holds the connection until the
-- commit, so that an erasure waits for it. In the same order everywhere, so that two wait for each other instead of deadlocking.
create function sleep_hold(given jsonb) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(key)
  from (
    select distinct hashtextextended(n.user_id || ' ' || n.date::text, 0) as key
    from jsonb_to_recordset(given) as n (user_id text, date date)
    order by key
  ) as keys;
  perform c.id from connection c
  where (c.athlete_id, c.vendor) in (select n.athlete_id, n.vendor from jsonb_to_recordset(given) as n (athlete_id uuid, vendor text))
  order by c.id for key share of c;
end $$;

-- One sleep of each key. Nothing that was written before its athlete left the vendor: a redelivery brings nothing back. A final one is not
-- replaced by a tentative one, nor by one that was captured earlier.
create function sleep_keep(given jsonb) returns void language plpgsql as $$
begin
  insert into sleep_record as r (user_id, date, vendor, external_id, duration_minutes, quality_score, is_tentative, captured_at)
  select n.user_id, n.date, n.vendor, n.external_id, n.duration_minutes, n.quality_score, n.is_tentative, n.captured_at
  from jsonb_to_recordset(given) as n (
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
end $$;

-- Of each day the night that counts: of the vendor that goes first, a final one before a tentative one, the longest, the latest. Only what
-- changes is told.
-- One look for each day: a join would read the whole table as long as that has some thousand rows.
create function sleep_settle(given jsonb, told_at timestamptz) returns void language plpgsql as $$
declare
  is_told boolean;
begin
  with keys as materialized (
    select distinct on (user_id, date) user_id, date, traceparent
    from jsonb_to_recordset(given) as k (user_id text, date date, traceparent text)
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
      told_at, k.traceparent
    from stored s join keys k on k.user_id = s.user_id and k.date = s.date
    returning id
  )
  select count(*) > 0 into is_told from told;
  if is_told then
    perform pg_notify('paceline_outbox', '');
  end if;
end $$;

-- Each sees what was committed until then: what others stored while it waited, too.
create function sleep_store(given jsonb, told_at timestamptz) returns void language plpgsql as $$
begin
  perform sleep_hold(given);
  perform sleep_keep(given);
  perform sleep_settle(given, told_at);
end $$;

create function announce_night() returns trigger language plpgsql as $$
begin
  perform pg_notify('paceline_live', json_build_object('kind', 'sleep', 'athleteId', new.user_id, 'id', new.date)::text);
  return null;
end $$;
-- Only an athlete of this installation follows theirs; their ids are of version 7.
create trigger sleep_data_announce after insert or update on sleep_data
  for each row when (new.user_id like '________-____-7___-____-____________') execute function announce_night();

-- A vendor may tell of several sleeps of one day. What was handed on so far has no id, so it is handed on once more.
alter table sleep_heard add column external_id text not null default '';
alter table sleep_heard drop constraint sleep_heard_pkey;
alter table sleep_heard add primary key (athlete_id, vendor, date, external_id);
