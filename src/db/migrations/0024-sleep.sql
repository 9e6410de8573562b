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
