-- name: sleep_heard
delete from sleep_heard
where athlete_id = $athleteId and vendor = $vendor and date in (
  select date from sleep_heard
  where athlete_id = $athleteId and vendor = $vendor
    and ($before::timestamptz is null or date::timestamp at time zone 'UTC' < $before)
  order by date limit $limit)
returning 1 as erased;

-- name: sleep_heard_due
select distinct athlete_id from sleep_heard where vendor = $vendor and date < $before::timestamptz at time zone 'UTC';
