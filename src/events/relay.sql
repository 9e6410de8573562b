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
-- The oldest first. Those of an athlete of whom an earlier one was refused wait for it.
select o.id, o.subject, o.payload::text as payload, o.created_at, o.traceparent, o.refusals, outbox_athlete(o.payload) as athlete
from outbox o
where not exists (
    select from outbox b
    where b.retry_at is not null and outbox_athlete(b.payload) = outbox_athlete(o.payload)
      and (b.position < o.position or b.id = o.id) and b.retry_at > $now)
order by o.position
limit $limit;

-- name: next
select min(retry_at) as at from outbox where retry_at is not null;

-- name: published
delete from outbox where id = any($ids::uuid[]);

-- name: refused
update outbox set refusals = refusals + 1, retry_at = $retryAt where id = $id;

-- name: owed
-- Costs the same however many there are.
select
  (select count(*) from (select from outbox limit 10000) as counted) as waiting,
  (select created_at from outbox where retry_at is null order by position limit 1) as oldest;
