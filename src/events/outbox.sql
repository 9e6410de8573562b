-- name: add
insert into outbox (id, subject, payload, created_at)
select e.id, e.subject, e.payload, $2
from jsonb_to_recordset($1::text::jsonb) as e (id uuid, subject text, payload jsonb);

-- name: erase
-- Deletes the events about erased data: an unpublished one would announce data that is gone, a published one is a copy of it. An unpublished
-- `.deleted` event stays: it tells consumers to delete their copy. $3 null: all of them; else those whose activity or night began before $3.
-- The athlete of a night is inside its payload.
delete from outbox
where coalesce(payload ->> 'athleteId', payload #>> '{payload,userId}') = $1::text
  and coalesce(payload ->> 'vendor', payload #>> '{payload,raw,source}') = $2
  and ($3::timestamptz is null
    or coalesce((payload ->> 'start')::timestamptz, (payload #>> '{payload,date}')::date::timestamp at time zone 'UTC', created_at) < $3)
  and (published_at is not null or subject not like '%.deleted');
