-- name: activity_stream
-- Before the activities: the cascade would delete them too, but not say how many.
delete from activity_stream s
using activity a
where a.id = s.activity_id and a.athlete_id = $athleteId and a.provider = $vendor
  and ($before::timestamptz is null or a.start_time < $before)
returning 1 as erased;
