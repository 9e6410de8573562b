-- name: outbox
-- The events about erased data: an unpublished one would announce data that is gone, a published one is a copy of it. An unpublished
-- `.deleted` event stays: it tells consumers to delete their copy. An event is as old as its activity or night. The athlete of a night is
-- inside its payload.
delete from outbox
where coalesce(payload ->> 'athleteId', payload #>> '{payload,userId}') = $athleteId::text
  and coalesce(payload ->> 'vendor', payload #>> '{payload,raw,source}') = $vendor
  and ($before::timestamptz is null
    or coalesce((payload ->> 'start')::timestamptz, (payload #>> '{payload,date}')::date::timestamp at time zone 'UTC', created_at)
      < $before)
  and (published_at is not null or subject not like '%.deleted');
