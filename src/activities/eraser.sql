-- name: erasePhotos
-- Runs before eraseActivities: the cascade would delete the photos too, but not count them.
delete from activity_photo p
using activity a
where a.id = p.activity_id and a.athlete_id = $1 and a.provider = $2 and ($3::timestamptz is null or a.start_time < $3)
returning 1 as erased;

-- name: eraseActivities
delete from activity
where athlete_id = $1 and provider = $2 and ($3::timestamptz is null or start_time < $3)
returning 1 as erased;

-- name: eraseCheckins
delete from checkin
where athlete_id = $1 and provider = $2 and ($3::timestamptz is null or created_at < $3)
returning 1 as erased;
