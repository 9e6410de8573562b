-- name: outbox
-- An event that has not left would tell of data that is gone, and one that has left is a copy of it. What tells others to forget
-- stays until it has left, because they must hear it. An event is as old as what it tells of. A night tells whose it is inside.
delete from outbox
where coalesce(payload ->> 'athleteId', payload #>> '{payload,userId}') = $athleteId::text
  and coalesce(payload ->> 'vendor', payload #>> '{payload,raw,source}') = $vendor
  and ($before::timestamptz is null
    or coalesce((payload ->> 'start')::timestamptz, (payload #>> '{payload,date}')::date::timestamp at time zone 'UTC', created_at)
      < $before)
  and (published_at is not null or subject not like '%.deleted');
