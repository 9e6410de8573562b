-- What was read from an activity's streams, kept so that it is worked out once. It is out of date when the streams (fetched_at), the sport
-- that they were read as, or the way of reading them (version) are others.
create table activity_shape (
  activity_id uuid primary key references activity on delete cascade,
  version integer not null,
  fetched_at timestamptz not null,
  sport text not null,
  shape jsonb not null
);

-- That one more from Garmin waits is no news: they are never fetched, so it only passes through fetching within a transaction.
create trigger activity_announce_streams after update of stream_fetch_status on activity
  for each row when (old.stream_fetch_status is distinct from new.stream_fetch_status
    and not (new.provider = 'garmin' and new.stream_fetch_status in ('fetching', 'deferred')))
  execute function announce_change('stream');
