-- name: add
insert into outbox (id, subject, payload, created_at)
select e.id, e.subject, e.payload, $2
from jsonb_to_recordset($1::text::jsonb) as e (id uuid, subject text, payload jsonb);

-- name: erase
-- An event that has not left would tell of data that is gone, and one that has left is a copy of it. What tells others to forget
-- stays until it has left: it is the erasure's own errand. $3 null: all of them; else by the start of what is told of.
-- A night tells whose it is inside.
delete from outbox
where coalesce(payload ->> 'athleteId', payload #>> '{payload,userId}') = $1::text
  and coalesce(payload ->> 'vendor', payload #>> '{payload,raw,source}') = $2
  and ($3::timestamptz is null
    or coalesce((payload ->> 'start')::timestamptz, (payload #>> '{payload,date}')::date::timestamp at time zone 'UTC', created_at) < $3)
  and (published_at is not null or subject not like '%.deleted');
