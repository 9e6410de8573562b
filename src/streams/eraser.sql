-- name: activity_stream
-- Before the activities: the cascade would delete them too, but not say how many.
delete from activity_stream s
using activity a
where a.id = s.activity_id and a.athlete_id = $athleteId and a.provider = $vendor
  and ($before::timestamptz is null or a.start_time < $before)
returning 1 as erased;

-- name: stream_lock
-- Only with everything else. A worker without its lock finds its rows gone too. No other vendor's streams are fetched under it.
delete from stream_lock
where athlete_id = $athleteId and $vendor = 'strava' and $before::timestamptz is null;
