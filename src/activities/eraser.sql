-- name: activity_photo
-- Of the activities that `activity` deletes next: the cascade would delete the photos too, but not count them.
delete from activity_photo
where activity_id in (
  select id from activity
  where athlete_id = $athleteId and provider = $vendor and start_time < coalesce($before::timestamptz, 'infinity')
  order by start_time, id limit $limit)
returning 1 as erased;

-- name: activity
-- The oldest first, as the other blocks that go with an activity choose them.
delete from activity
where id in (
  select id from activity
  where athlete_id = $athleteId and provider = $vendor and start_time < coalesce($before::timestamptz, 'infinity')
  order by start_time, id limit $limit)
returning 1 as erased;

-- name: checkin
delete from checkin
where id in (
  select id from checkin
  where athlete_id = $athleteId and provider = $vendor and created_at < coalesce($before::timestamptz, 'infinity')
  order by created_at, id limit $limit)
returning 1 as erased;

-- name: activity_due
select distinct athlete_id from activity where provider = $vendor and start_time < $before;

-- name: checkin_due
select distinct athlete_id from checkin where provider = $vendor and created_at < $before;
