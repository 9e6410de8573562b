-- name: publish
-- The order of the statement is the order in the stream. An id that the stream has is not stored again.
with given as (
  select n, stream, subject, message_id, headers, data, user_id, vendor
  from jsonb_to_recordset($messages::text::jsonb) as m
    (n integer, stream text, subject text, message_id text, headers jsonb, data text, user_id text, vendor text)
), stored as (
  insert into bus_message (stream, subject, message_id, headers, data, published_at, user_id, vendor)
  select stream, subject, message_id, headers, decode(data, 'base64'), $now, user_id, vendor from given order by n
  on conflict (stream, message_id) do nothing
  returning seq, subject
), owed as (
  insert into bus_delivery (durable, seq, due_at)
  select d.name, s.seq, $now
  from stored s
  join bus_durable d on s.subject = d.subject or (d.subject like '%.>' and starts_with(s.subject, left(d.subject, -1)))
)
select pg_notify('paceline_bus', '') where exists (select from stored);

-- name: known
select from bus_durable where name = $name and subject = $subject;

-- name: make
-- A new durable, or one of another subject, is owed what is kept.
with made as (
  insert into bus_durable as d (name, subject) values ($name, $subject)
  on conflict (name) do update set subject = excluded.subject where d.subject <> excluded.subject
  returning name, subject
)
insert into bus_delivery (durable, seq, due_at)
select d.name, m.seq, $now
from made d
join bus_message m on m.subject = d.subject or (d.subject like '%.>' and starts_with(m.subject, left(d.subject, -1)))
on conflict (durable, seq) do nothing;

-- name: pull
-- Those that are due, the longest due first; who has not answered in time is due again.
with due as materialized (
  select durable, seq from bus_delivery
  where durable = $durable and due_at <= $now
  order by due_at, seq limit $most for update skip locked
), taken as (
  update bus_delivery d set attempts = d.attempts + 1, due_at = $until
  from due where d.durable = due.durable and d.seq = due.seq
  returning d.seq, d.attempts
)
select m.seq, m.stream, m.subject, m.message_id as id, m.headers, m.data, m.published_at, t.attempts as attempt
from taken t join bus_message m on m.seq = t.seq
order by m.seq;

-- name: next
select min(due_at) as at from bus_delivery where durable = $durable;

-- name: settle
delete from bus_delivery where durable = $durable and seq = any($seqs::bigint[]);

-- name: postpone
update bus_delivery set due_at = $until where durable = $durable and seq = any($seqs::bigint[]);

-- name: lag
select count(*) as lag from bus_delivery where durable = $durable;

-- name: remove
delete from bus_message m
using jsonb_to_recordset($messages::text::jsonb) as g (seq bigint, id text)
where m.stream = $stream and m.seq = g.seq and m.message_id = g.id;

-- name: prune
-- What no consumer has handled by then goes, too: a stream is kept for a time, not for ever.
delete from bus_message
where seq in (select seq from bus_message where stream = $stream and published_at < $before order by published_at limit $limit)
returning seq;
