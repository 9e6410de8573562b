-- What an athlete did. Columns are what lists, filters and states need; summary and detail keep what the vendor said, as it was read.
-- No external id: entered by hand, so there is nothing to fetch. Times are in milliseconds, as the list's cursor has them.
create table activity (
  id uuid primary key,
  athlete_id uuid not null references athlete on delete cascade,
  provider text not null,
  -- text: ids have 64 bits, and not every vendor's are numbers
  external_activity_id text,
  name text not null,
  sport text not null,
  start_time timestamptz(3) not null,
  timezone text,
  elapsed_seconds integer,
  moving_seconds integer,
  distance_meters double precision,
  manual boolean not null,
  description text,
  summary jsonb not null,
  -- without laps and splits, which have columns of their own
  detail jsonb,
  laps jsonb,
  splits jsonb,
  detailed_at timestamptz,
  photo_count integer not null default 0,
  -- null again when the count changes: what was stored stays, and is asked for once more
  photos_synced_at timestamptz,
  stream_fetch_status text not null default 'pending' constraint activity_stream_fetch_status_known
    check (stream_fetch_status in ('pending', 'fetching', 'success', 'failed', 'deferred', 'unavailable')),
  stream_fetch_attempted_at timestamptz,
  stream_fetch_error text,
  stream_fetch_retry_count integer not null default 0,
  stream_fetch_deferred_until timestamptz,
  stream_fetch_epoch integer not null default 0,
  first_seen_at_utc timestamptz not null,
  last_seen_at_utc timestamptz not null,
  updated_at_utc timestamptz not null,
  constraint activity_once unique (athlete_id, provider, external_activity_id),
  constraint activity_detailed_with_detail check ((detailed_at is null) = (detail is null)),
  constraint activity_streams_need_an_external_id check (external_activity_id is not null or stream_fetch_status = 'unavailable')
);
create index activity_newest on activity (athlete_id, start_time desc, id desc);
create index activity_owed on activity (athlete_id, provider, start_time desc, id desc) where detailed_at is null;

create table activity_photo (
  activity_id uuid not null references activity on delete cascade,
  unique_id text not null,
  caption text,
  -- by size in pixels
  urls jsonb not null,
  taken_at timestamptz,
  -- [latitude, longitude]
  location jsonb,
  primary key (activity_id, unique_id)
);

create table checkin (
  id uuid primary key,
  athlete_id uuid not null references athlete on delete cascade,
  provider text not null,
  external_id text not null,
  created_at timestamptz(3) not null,
  venue jsonb,
  shout text,
  timezone_offset_minutes integer,
  constraint checkin_once unique (athlete_id, provider, external_id)
);
create index checkin_newest on checkin (athlete_id, created_at desc, id desc);

-- What others are to be told, written with what it tells of. The id is the event's; a row leaves after its transaction.
create table outbox (
  id uuid primary key,
  subject text not null,
  payload jsonb not null,
  created_at timestamptz not null,
  published_at timestamptz
);
create index outbox_waiting on outbox (id) where published_at is null;
