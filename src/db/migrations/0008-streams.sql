-- One activity's streams, one row each: channel -> array, all as long as time. They go with their activity.
create table activity_stream (
  id uuid primary key,
  activity_id uuid not null references activity on delete cascade,
  stream_data jsonb not null,
  -- the names of the channels, so that nobody reads the samples to know them
  channels_available jsonb not null,
  point_count integer not null,
  source text not null,
  fetched_at timestamptz not null,
  constraint uq_activity_stream_activity_id unique (activity_id),
  constraint activity_stream_counted check (point_count > 0 and point_count = coalesce(jsonb_array_length(stream_data->'time'), 0))
);

-- The life of their fetching (streams/stream-lifecycle.ts): a state for each activity since 0004, now with its rules.
alter table activity
  drop constraint activity_stream_fetch_status_known,
  add constraint activity_stream_fetch_status_known check (stream_fetch_status is not null and stream_fetch_status in ('pending', 'fetching', 'success', 'failed', 'deferred', 'unavailable')),
  add constraint activity_stream_fetch_error_iff check ((stream_fetch_error is not null) = (stream_fetch_status in ('failed', 'deferred'))),
  add constraint activity_stream_fetch_deferred_until_iff check ((stream_fetch_deferred_until is not null) = (stream_fetch_status in ('deferred')));

create or replace function activity_stream_fetch_status_guard() returns trigger language plpgsql as $$
begin
  if old.stream_fetch_status || '>' || new.stream_fetch_status not in ('deferred>fetching', 'deferred>pending', 'failed>fetching', 'failed>pending', 'fetching>deferred', 'fetching>failed', 'fetching>success', 'fetching>unavailable', 'pending>fetching', 'success>pending', 'unavailable>pending') then
    raise exception 'illegal move % -> % on activity', old.stream_fetch_status, new.stream_fetch_status using errcode = 'PL001';
  end if;
  return new;
end $$;
create or replace trigger activity_stream_fetch_status_guard before update of stream_fetch_status on activity
  for each row when (old.stream_fetch_status is distinct from new.stream_fetch_status) execute function activity_stream_fetch_status_guard();

create index ix_activity_stream_backfill_eligible on activity (start_time)
  where stream_fetch_status in ('pending', 'failed', 'deferred') and external_activity_id is not null;
create index activity_stream_fetching on activity (stream_fetch_attempted_at) where stream_fetch_status = 'fetching';

-- Who is at an athlete's backlog, so that two processes do not ask for the same rows in the same order.
create table stream_lock (
  athlete_id uuid primary key references athlete on delete cascade,
  owner text not null,
  expires_at timestamptz not null
);

-- Failures in a row of one vendor. From the fifth on, one row is tried at probe_at, and the others wait.
create table stream_trouble (
  vendor text primary key,
  failures integer not null,
  probe_at timestamptz not null
);
