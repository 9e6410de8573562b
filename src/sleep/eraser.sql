-- name: sleep_heard
delete from sleep_heard
where athlete_id = $athleteId and vendor = $vendor
  and ($before::timestamptz is null or date::timestamp at time zone 'UTC' < $before);

-- name: sleep_heard_due
select distinct athlete_id from sleep_heard where vendor = $vendor and date < $before::timestamptz at time zone 'UTC';
