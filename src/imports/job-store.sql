-- name: create
-- Creates an import, unless a live one serves: any for an incremental one, for a full one only another full one, because a poll sees the
-- newest alone. A full one goes on where the last failed full one of this connection stopped, unless $restart asks to start from the
-- beginning. One of an earlier connection does not count (it may have been another account), nor one that had other scopes.
insert into import_jobs (id, athlete_id, vendor, type, status, sync_cursor, total, scopes, created_at, updated_at)
select $id, $athleteId, $vendor, $type, 'queued', coalesce(last.sync_cursor, '{}'), last.total, $scopes, $now, $now
from (select 1) as one
left join lateral (
  select sync_cursor, total, status, scopes from import_jobs
  where athlete_id = $athleteId and vendor = $vendor and type = 'full'
    and created_at >= $connectedAt
  order by id desc limit 1
) as last on $type = 'full' and not $restart and last.status = 'failed'
  and last.scopes @> $scopes::text[] and last.scopes <@ $scopes::text[]
where not exists (
  select from import_jobs l
  where l.athlete_id = $athleteId and l.vendor = $vendor and import_is_live(l.status) and ($type = 'incremental' or l.type = 'full'))
on conflict do nothing
returning *

-- name: live
-- The full one first: it answers whatever was asked for.
select * from import_jobs
where athlete_id = $athleteId and vendor = $vendor and import_is_live(status)
order by type = 'full' desc
limit 1

-- name: lastFull
-- The import that last read the whole list. In a store that an older release has pruned it is the one that says when that is due again.
select * from import_jobs
where athlete_id = $athleteId and vendor = $vendor and ((type = 'full' and status = 'completed') or next_full_at is not null)
order by id desc
limit 1

-- name: list
select * from import_jobs j
where athlete_id = $athleteId and ($after::uuid is null or id < $after)
  and not exists (select from erasure e where e.athlete_id = j.athlete_id and e.vendor = j.vendor and e.older_than is null)
order by id desc
limit $limit

-- name: read
select * from import_jobs j where id = $id and athlete_id = $athleteId
  and not exists (select from erasure e where e.athlete_id = j.athlete_id and e.vendor = j.vendor and e.older_than is null)

-- name: current
-- The import of a history that is at work, or next: the earliest live one.
select * from import_jobs where athlete_id = $athleteId and vendor = $vendor and import_is_live(status) order by id limit 1

-- name: claim
-- By the worker that has the lane, for the first call and after every pause. A pause of its own lasts until $now; one that a gate made ends
-- with the gate.
update import_jobs
set status = 'started', epoch = epoch + 1, retry_after = null, pause = null, pause_pool = null, pause_window = null, is_gated = false,
    started_at = coalesce(started_at, $now), updated_at = $now
where id = $id and (status = 'queued' or (status = 'rate_limited' and (is_gated or retry_after <= $now)))
returning *

-- name: save
-- Saves progress in the transaction that stores the rows. No row: the import was taken away, so the rows must not be stored.
update import_jobs
set sync_cursor = $cursor::text::jsonb, total = $total, problems = $problems::text::jsonb, call_class = $class, updated_at = $now
where id = $id and epoch = $epoch and status = 'started'
returning id

-- name: await
-- Its next call is of another class: the gate of that class is the one that counts.
update import_jobs set call_class = $class, updated_at = $now where id = $id and epoch = $epoch and status = 'started'

-- name: pause
-- The cursor counts faults in a row.
update import_jobs
set status = 'rate_limited', retry_after = $retryAt, pause = $cause, pause_pool = $pool, pause_window = $window,
    sync_cursor = sync_cursor || jsonb_build_object('faults',
      case when $cause = 'fault' then coalesce((sync_cursor->>'faults')::integer, 0) + 1 else 0 end),
    updated_at = $now
where id = $id and epoch = $epoch and status = 'started'
returning id

-- name: pauseServed
-- A gate closed: those that were being served wait, all in one statement. Those of athletes in $busy are still storing.
update import_jobs
set status = 'rate_limited', retry_after = $opensAt, pause = $cause, pause_pool = $pool, pause_window = $window, is_gated = true,
    updated_at = $now
where vendor = $vendor and call_class = $class and status = 'started' and athlete_id <> all ($busy::uuid[])
returning id, athlete_id as "athleteId", vendor, type

-- name: release
update import_jobs
set status = 'queued', updated_at = $now
where id = $id and epoch = $epoch and status = 'started'
returning id

-- name: complete
update import_jobs
set status = 'completed', finished_at = $now, updated_at = $now
where id = $id and epoch = $epoch and status = 'started'
returning id

-- name: fail
update import_jobs
set status = 'failed', error = $sentence, error_code = $code, retry_after = null, finished_at = $now, updated_at = $now
where id = $id and epoch = $epoch and import_is_live(status)
returning id

-- name: waiting
-- Live imports that could be served now, some at a time in the order of their ids: whose lane was forgotten is found.
select id, athlete_id as "athleteId", vendor, call_class as "callClass" from import_jobs
where import_is_live(status) and id > $after and (status <> 'rate_limited' or is_gated or retry_after <= $now)
order by id limit $limit

-- name: scheduleFull
-- When the whole list is to be read again: only the last full import says so. $isFull: $id is that one. An incremental one may make it
-- earlier.
update import_jobs
set next_full_at = case when id = $id and $isFull then $at when $isFull then null else least(next_full_at, $at) end
where athlete_id = $athleteId and vendor = $vendor and ((id = $id and $isFull) or next_full_at is not null)

-- name: fullDue
-- The histories whose whole list is due, those that wait longest first.
select f.athlete_id as "athleteId", f.vendor
from import_jobs f
where f.next_full_at <= $now and f.vendor = any ($vendors::text[])
  and not exists (
    select from import_jobs l where l.athlete_id = f.athlete_id and l.vendor = f.vendor and import_is_live(l.status))
order by f.next_full_at
limit 10

-- name: postponeFull
update import_jobs set next_full_at = $at where athlete_id = $athleteId and vendor = $vendor and next_full_at is not null

-- name: standings
-- Of each connection, in the order given, whether an import is live, or none is wanted before a person asks or consents anew: for the
-- vendors in $once because there was one since the consent, for those in $byHand because the last one since then is a full one that failed.
-- Of the others, whether the last one since the consent completed.
select case
  when exists (
    select from import_jobs j where j.athlete_id = c.athlete_id and j.vendor = c.vendor and import_is_live(j.status)) then 'live'
  when c.vendor = any ($once::text[]) and last.id is not null then 'settled'
  when c.vendor = any ($byHand::text[]) and last.type = 'full' and last.status = 'failed' then 'settled'
  when last.status = 'completed' then 'completed'
  else 'wanted' end as standing
from unnest($athleteIds::uuid[], $vendors::text[], $consentedAt::timestamptz[]) with ordinality as c (athlete_id, vendor, consented_at, place)
left join lateral (
  select j.id, j.type, j.status from import_jobs j
  where j.athlete_id = c.athlete_id and j.vendor = c.vendor and j.created_at >= c.consented_at
  order by j.id desc limit 1
) as last on true
order by c.place

-- name: closedShares
select vendor, type from poll_share where next_at > $now

-- name: closeShare
-- What two processes spend at once is paid one after the other.
insert into poll_share as s (vendor, type, next_at)
values ($vendor, $type, $now::timestamptz + $costMs::float8 * interval '1 millisecond')
on conflict (vendor, type) do update set next_at = greatest(s.next_at, $now) + $costMs * interval '1 millisecond'

-- name: prune
-- The one that says when the whole list is due stays.
delete from import_jobs where finished_at < $before and next_full_at is null

-- name: underWay
select id from import_jobs j where athlete_id = $athleteId and import_is_live(status)
  and not exists (select from erasure e where e.athlete_id = j.athlete_id and e.vendor = j.vendor and e.older_than is null)

-- name: byStatus
select status, count(*) as count from import_jobs group by status
