-- name: outbox
-- The events about erased data: an unpublished one would announce data that is gone, a published one is a copy of it. An unpublished
-- `.deleted` event stays: it tells consumers to delete their copy. An event is as old as its activity or night. The athlete of a night is
-- inside its payload.
delete from outbox
where id in (
  select id from outbox
  where outbox_athlete(payload) = $athleteId::text and outbox_vendor(payload) = $vendor
  and ($before::timestamptz is null
    or coalesce((payload ->> 'start')::timestamptz, (payload #>> '{payload,date}')::date::timestamp at time zone 'UTC', created_at)
      < $before)
  and (published_at is not null or subject not like '%.deleted')
  limit $limit)
returning 1 as erased;

-- name: outbox_due
-- Those that name no activity's or night's time are deletions: the unpublished ones stay.
select outbox_athlete(payload)::uuid as athlete_id from outbox
where outbox_vendor(payload) = $vendor
  and outbox_age(payload) < to_char($before::timestamptz at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
union
select outbox_athlete(payload)::uuid from outbox
where outbox_vendor(payload) = $vendor and outbox_age(payload) is null and published_at is not null and created_at < $before;
