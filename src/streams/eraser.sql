-- name: activity_stream
-- Of the activities that are deleted next: the cascade would delete them too, but not say how many.
delete from activity_stream
where activity_id in (
  select id from activity
  where athlete_id = $athleteId and provider = $vendor and start_time < coalesce($before::timestamptz, 'infinity')
  order by start_time, id limit $limit)
returning 1 as erased;
