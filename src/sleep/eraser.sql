-- name: erasable
-- The days of which a vendor has a sleep that is to go.
select distinct date::text as date
from sleep_record
where user_id = $athleteId::text and vendor = $vendor
  and ($before::timestamptz is null or date::timestamp at time zone 'UTC' < $before)
order by date limit $limit;

-- name: erase
delete from sleep_record
where user_id = $athleteId::text and vendor = $vendor and date = any($dates::date[])
returning 1 as erased;

-- name: due
-- Nights of people who are not athletes here belong to whoever ingests them. Each athlete is looked up: there are many whose nights are young.
select distinct a.id as athlete_id
from sleep_record r
join athlete a on a.id = case when r.user_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then r.user_id::uuid end
where r.vendor = $vendor and r.date < $before::timestamptz at time zone 'UTC';
