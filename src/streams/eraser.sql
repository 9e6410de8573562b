-- name: eraseStreams
-- Before the activities: the cascade would delete them too, but not say how many.
delete from activity_stream s
using activity a
where a.id = s.activity_id and a.athlete_id = $1 and a.provider = $2 and ($3::timestamptz is null or a.start_time < $3)
returning 1 as erased;

-- name: eraseLock
delete from stream_lock where athlete_id = $1;
