-- name: activity_photo
-- Runs before `activity`: the cascade would delete the photos too, but not count them.
delete from activity_photo p
using activity a
where a.id = p.activity_id and a.athlete_id = $athleteId and a.provider = $vendor
  and ($before::timestamptz is null or a.start_time < $before)
returning 1 as erased;

-- name: activity
delete from activity
where athlete_id = $athleteId and provider = $vendor and ($before::timestamptz is null or start_time < $before)
returning 1 as erased;

-- name: checkin
delete from checkin
where athlete_id = $athleteId and provider = $vendor and ($before::timestamptz is null or created_at < $before)
returning 1 as erased;

-- name: activity_due
select distinct athlete_id from activity where provider = $vendor and start_time < $before;

-- name: checkin_due
select distinct athlete_id from checkin where provider = $vendor and created_at < $before;
