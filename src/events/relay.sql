-- name: take
-- The lease of whoever publishes: mine already, or nobody's any more.
insert into outbox_relay as r (owner, until) values ($owner, $until)
on conflict (id) do update set owner = excluded.owner, until = excluded.until
where r.owner = excluded.owner or r.until <= $now
returning owner;

-- name: keep
update outbox_relay set until = $until where owner = $owner;

-- name: leave
update outbox_relay set until = $now where owner = $owner;

-- name: taken
select until as at from outbox_relay;

-- name: waiting
-- The oldest first. Those of an athlete of whom one was refused wait for that one.
with held as materialized (select distinct athlete from outbox where retry_at is not null and athlete is not null)
select o.id, o.subject, o.payload::text as payload, o.created_at, o.traceparent, o.refusals, o.athlete
from outbox o
where o.retry_at is null and not exists (select from held h where h.athlete = o.athlete)
order by o.position
limit $limit;

-- name: refusedDue
-- Few at a time: however many there are, the others go on between them.
select id, subject, payload::text as payload, created_at, traceparent, refusals, athlete
from outbox
where retry_at <= $now
order by retry_at, position
limit $limit;

-- name: next
select min(retry_at) as at from outbox where retry_at is not null;

-- name: published
delete from outbox where id = any($ids::uuid[]);

-- name: refused
update outbox set refusals = refusals + 1, retry_at = $retryAt where id = any($ids::uuid[]);

-- name: owed
-- Costs the same however many there are.
select
  (select count(*) from (select from outbox limit 10000) as counted) as waiting,
  (select created_at from outbox where retry_at is null order by position limit 1) as oldest;
