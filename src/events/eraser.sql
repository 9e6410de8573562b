-- name: outbox
-- The events about erased data: one that waits would announce what is gone. A `.deleted` event stays: it tells consumers to delete their
-- copy. An event is as old as its activity or night, which may be inside its payload.
delete from outbox
where id in (
  select id from outbox
  where outbox_athlete(payload) = $athleteId::text and outbox_vendor(payload) = $vendor
  and ($before::timestamptz is null
    or coalesce(
      (payload ->> 'start')::timestamptz,
      coalesce(payload #>> '{payload,date}', payload #>> '{record,date}')::date::timestamp at time zone 'UTC',
      created_at) < $before)
  and subject not like '%.deleted'
  limit $limit)
returning 1 as erased;

-- name: bus_message
-- Copies on the embedded bus; a `.deleted` event stays until it is handled. What retention deletes is younger there than any copy.
delete from bus_message
where seq in (
  select seq from bus_message m
  where user_id = $athleteId::text and vendor = $vendor and ($before::timestamptz is null or published_at < $before)
    and (subject not like '%.deleted' or not exists (select from bus_delivery d where d.seq = m.seq))
  limit $limit)
returning 1 as erased;

-- name: dead_letter
-- And then from the stream (DeadLetters.sweep).
with erased as (
  delete from dead_letter
  where id in (
    select id from dead_letter
    where user_id = $athleteId::text and vendor = $vendor and ($before::timestamptz is null or last_at < $before)
    limit $limit)
  returning stream_seq, letter_id
), gone as (
  insert into dead_letter_gone (stream_seq, letter_id) select stream_seq, letter_id from erased where stream_seq is not null
  on conflict do nothing
)
select 1 as erased from erased;
