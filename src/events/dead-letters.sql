-- name: keep
-- Nothing of a letter whose athlete has left the vendor since: that one is to go from the stream, too.
with given as (
  select l.*, exists (
    select from deletion_receipt r
    where r.athlete_id = l.athlete_id and r.vendor = l.vendor and r.cause <> 'retention' and r.deleted_at >= l.written_at
    union all
    select from erasure e where e.athlete_id = l.athlete_id and e.vendor = l.vendor and e.older_than is null
  ) as is_erased
  from jsonb_to_recordset($letters::text::jsonb) as l (
    id uuid, letter_id text, stream_seq bigint, subject text, original_subject text, event_id text, reason text, error text, attempt integer,
    first_at timestamptz, last_at timestamptz, written_at timestamptz, headers jsonb, payload text, user_id text, vendor text, athlete_id uuid)
), gone as (
  insert into dead_letter_gone (stream_seq, letter_id)
  select stream_seq, letter_id from given where is_erased and stream_seq is not null
  on conflict do nothing
)
insert into dead_letter (
  id, letter_id, stream_seq, subject, original_subject, event_id, reason, error, attempt, first_at, last_at, headers, payload, user_id, vendor)
select
  id, letter_id, stream_seq, subject, original_subject, event_id, reason, error, attempt, first_at, last_at, headers, decode(payload, 'base64'),
  user_id, vendor
from given where not is_erased
order by id
on conflict (letter_id) do update set stream_seq = excluded.stream_seq, last_at = excluded.last_at;

-- name: list
-- Without the bytes of large ones: a page of those would be some hundred megabytes.
select
  l.id, l.subject, l.original_subject, l.event_id, l.reason, l.error, l.attempt, l.first_at, l.last_at, l.headers,
  case when octet_length(l.payload) <= 16384 then l.payload end as payload, r.replays, r.replayed_at
from dead_letter l
cross join lateral (
  select count(*)::integer as replays, max(asked_at) as replayed_at
  from dead_letter_replay where dead_letter_id = l.id and published_at is not null
) as r
where ($subject::text is null or l.subject = $subject or l.original_subject = $subject) and ($after::uuid is null or l.id < $after)
order by l.id desc
limit $limit;

-- name: read
select l.*, r.replays, r.replayed_at
from dead_letter l
cross join lateral (
  select count(*)::integer as replays, max(asked_at) as replayed_at
  from dead_letter_replay where dead_letter_id = l.id and published_at is not null
) as r
where l.id = $id;

-- name: waiting
-- Those of a subject that were not replayed, of before the request: a replay that fails makes a new letter.
select id from dead_letter l
where (l.subject = $subject or l.original_subject = $subject)
  and original_subject is not null
  and not exists (select from dead_letter_replay where dead_letter_id = l.id and published_at is not null)
  and id < $before and ($after::uuid is null or id > $after)
order by id limit $limit;

-- name: ask
-- Numbers are counted over all letters of an event, so that no two replays have the same id. One that was asked for and is not known to be
-- published is the same replay. `once`: not where one was published, whoever asked for it.
with open as (
  select number from dead_letter_replay where dead_letter_id = $id and published_at is null
), made as (
  insert into dead_letter_replay (dead_letter_id, number, asked_at)
  select $id, 1 + coalesce((
    select max(r.number) from dead_letter l join dead_letter_replay r on r.dead_letter_id = l.id
    where l.event_id = (select event_id from dead_letter where id = $id)), 0), $now
  where exists (select from dead_letter where id = $id) and not exists (select from open)
    and not ($once and exists (select from dead_letter_replay where dead_letter_id = $id))
  returning number
)
select number from open union all select number from made;

-- name: lockEvent
-- Numbers one at a time; and an erasure of the letter waits.
select pg_advisory_xact_lock(hashtextextended(event_id, 0)) from dead_letter where id = $id for key share;

-- name: replayed
update dead_letter_replay set published_at = $now where dead_letter_id = $id and number = $number;

-- name: prune
delete from dead_letter
where id in (select id from dead_letter where last_at < $before order by last_at limit $limit)
returning id;

-- name: gone
select stream_seq as seq, letter_id as id from dead_letter_gone order by stream_seq limit $limit;

-- name: forget
delete from dead_letter_gone d
using jsonb_to_recordset($messages::text::jsonb) as g (seq bigint, id text)
where d.stream_seq = g.seq and d.letter_id = g.id;
