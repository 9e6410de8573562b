-- name: create
-- Creates an import, unless a live one serves: any for an incremental one, for a full one only another full one, because a poll sees the
-- newest alone. A full one goes on where the last failed full one of this connection stopped, unless $restart asks to start from the
-- beginning. One of an earlier connection does not count (it may have been another account), nor one that had other scopes.
insert into import_jobs (id, athlete_id, vendor, type, status, sync_cursor, total, scopes, list_calls, created_at, updated_at)
select $id, $athleteId, $vendor, $type, 'queued', coalesce(last.sync_cursor, '{}'), last.total, $scopes, $listCalls, $now, $now
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
select * from import_jobs where athlete_id = $athleteId and ($after::uuid is null or id < $after) order by id desc limit $limit

-- name: read
select * from import_jobs where id = $id and athlete_id = $athleteId

-- name: claim
-- One worker of all processes gets the row, and only when it is due and no earlier import of the same history is live.
update import_jobs j
set status = 'started', epoch = epoch + 1, lease_owner = $owner, lease_expires_at = $leaseUntil, retry_after = null, pause = null,
    started_at = coalesce(started_at, $now), updated_at = $now
where id = $id and (status = 'queued' or (status = 'rate_limited' and retry_after <= $now))
  and not exists (
    select from import_jobs e
    where e.athlete_id = j.athlete_id and e.vendor = j.vendor and e.id < j.id and import_is_live(e.status))
returning *

-- name: save
-- Saves progress in the transaction that stores the rows, and renews the lease. No row: the lease was lost, so the rows must not be stored.
update import_jobs
set sync_cursor = $cursor::text::jsonb, total = $total, problems = $problems::text::jsonb, lease_expires_at = $leaseUntil, updated_at = $now
where id = $id and epoch = $epoch and status = 'started'
returning id

-- name: pause
-- The cursor counts faults in a row.
update import_jobs
set status = 'rate_limited', retry_after = $retryAt, pause = $cause,
    sync_cursor = sync_cursor || jsonb_build_object('faults',
      case when $cause = 'fault' then coalesce((sync_cursor->>'faults')::integer, 0) + 1 else 0 end),
    lease_owner = null, lease_expires_at = null, updated_at = $now
where id = $id and epoch = $epoch and status = 'started'
returning id

-- name: release
update import_jobs
set status = 'queued', lease_owner = null, lease_expires_at = null, updated_at = $now
where id = $id and epoch = $epoch and status = 'started'
returning id

-- name: complete
update import_jobs
set status = 'completed', lease_owner = null, lease_expires_at = null, finished_at = $now, updated_at = $now
where id = $id and epoch = $epoch and status = 'started'
returning id

-- name: fail
update import_jobs
set status = 'failed', error = $sentence, error_code = $code, lease_owner = null, lease_expires_at = null, retry_after = null,
    finished_at = $now, updated_at = $now
where id = $id and epoch = $epoch and import_is_live(status)
returning id

-- name: expire
-- Frees the imports of workers that died.
update import_jobs
set status = 'queued', lease_owner = null, lease_expires_at = null, updated_at = $now
where status = 'started' and lease_expires_at <= $now
returning id

-- name: abandon
-- Only for a process that has the store to itself: whoever held a lease is gone.
update import_jobs
set status = 'queued', lease_owner = null, lease_expires_at = null, updated_at = $now
where status = 'started'
returning id

-- name: due
-- Without those that wait for an earlier import of the same history.
select id from import_jobs j
where (status = 'queued' or (status = 'rate_limited' and retry_after <= $now))
  and not exists (
    select from import_jobs e
    where e.athlete_id = j.athlete_id and e.vendor = j.vendor and e.id < j.id and import_is_live(e.status))
order by created_at limit 1000

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
where f.next_full_at <= $now
  and not exists (
    select from import_jobs l where l.athlete_id = f.athlete_id and l.vendor = f.vendor and import_is_live(l.status))
order by f.next_full_at
limit 10

-- name: postponeFull
update import_jobs set next_full_at = $at where athlete_id = $athleteId and vendor = $vendor and next_full_at is not null

-- name: unserved
-- The connections without a live import and without one created after both $since and the consent. For the vendors in $byHand a full import
-- that failed since the consent also counts: a person must start the next one. The connection whose last import is the oldest comes first,
-- however that import ended.
select c.place
from unnest($athleteIds::uuid[], $vendors::text[], $consentedAt::timestamptz[], $since::timestamptz[])
  with ordinality as c (athlete_id, vendor, consented_at, since, place)
where not exists (
  select from import_jobs j
  where j.athlete_id = c.athlete_id and j.vendor = c.vendor
    and (import_is_live(j.status)
      or (j.created_at >= c.consented_at
        and (j.created_at > c.since or (j.status = 'failed' and j.type = 'full' and j.vendor = any ($byHand::text[])))))
)
order by (select max(j.created_at) from import_jobs j where j.athlete_id = c.athlete_id and j.vendor = c.vendor) nulls first, c.place

-- name: lastPolls
-- When the last import of this type, of any athlete, was created that counts in the polls' share, and what those of that minute cost.
select max(j.created_at) as at, sum(j.list_calls)::integer as calls
from import_jobs j
where j.vendor = $vendor and j.type = $type and j.list_calls > 0 and j.created_at > (
  select max(l.created_at) - interval '1 minute' from import_jobs l where l.vendor = $vendor and l.type = $type and l.list_calls > 0)

-- name: othersOwe
-- What the other live imports of this vendor still have to fetch, one row each.
select greatest(0, coalesce(total, 0) - coalesce((sync_cursor->>'activities_imported')::integer, 0)) as owed
from import_jobs
where vendor = $vendor and athlete_id <> $athleteId and import_is_live(status)

-- name: prune
-- The one that says when the whole list is due stays.
delete from import_jobs where finished_at < $before and next_full_at is null

-- name: underWay
select id from import_jobs where athlete_id = $athleteId and import_is_live(status)

-- name: byStatus
select status, count(*) as count from import_jobs group by status
