-- What several statements ask of a row, written once. The planner puts the text of such a function in the place of its call, so that
-- indexes serve as if it stood there.

-- Somebody works at the import, or will.
create function import_is_live(status text) returns boolean language sql immutable parallel safe
  return status in ('queued', 'started', 'rate_limited');

-- The streams may be claimed, now or later.
create function stream_is_waiting(status text) returns boolean language sql immutable parallel safe
  return status in ('pending', 'failed', 'deferred');

-- The streams may be asked for now. What failed once or twice waits until that was long enough ago; what failed three times waits for a
-- person. Garmin's are not asked for.
create function stream_is_due(
  a activity, now timestamptz, failed_once_before timestamptz, failed_twice_before timestamptz
) returns boolean language sql immutable parallel safe
  return stream_is_waiting(a.stream_fetch_status) and a.external_activity_id is not null and a.provider = 'strava'
    and (a.stream_fetch_status = 'pending'
      or (a.stream_fetch_status = 'failed' and a.stream_fetch_retry_count < 3
        and a.stream_fetch_attempted_at <= case when a.stream_fetch_retry_count < 2 then failed_once_before else failed_twice_before end)
      or (a.stream_fetch_status = 'deferred' and a.stream_fetch_deferred_until <= now));
