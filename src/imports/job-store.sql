-- name: create
-- Creates an import, unless one is live. A full one goes on where the last failed full one of this connection stopped, unless $restart asks
-- to start from the beginning. One of an earlier connection does not count: it may have been another account.
insert into import_jobs (id, athlete_id, vendor, type, status, sync_cursor, total, created_at, updated_at)
select $id, $athleteId, $vendor, $type, 'queued', coalesce(last.sync_cursor, '{}'), last.total, $now, $now
from (select 1) as one
left join lateral (
  select sync_cursor, total, status from import_jobs
  where athlete_id = $athleteId and vendor = $vendor and type = 'full'
    and created_at >= $connectedAt
  order by id desc limit 1
) as last on $type = 'full' and not $restart and last.status = 'failed'
on conflict do nothing
returning *

-- name: live
select * from import_jobs where athlete_id = $athleteId and vendor = $vendor and import_is_live(status)

-- name: list
select * from import_jobs where athlete_id = $athleteId and ($after::uuid is null or id < $after) order by id desc limit $limit

-- name: read
select * from import_jobs where id = $id and athlete_id = $athleteId

-- name: claim
-- One worker of all processes gets the row, and only when it is due.
update import_jobs
set status = 'started', epoch = epoch + 1, lease_owner = $owner, lease_expires_at = $leaseUntil, retry_after = null, pause = null,
    started_at = coalesce(started_at, $now), updated_at = $now
where id = $id and (status = 'queued' or (status = 'rate_limited' and retry_after <= $now))
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
select id from import_jobs where status = 'queued' or (status = 'rate_limited' and retry_after <= $now) order by created_at limit 1000

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

-- name: lastPoll
select max(created_at) as at from import_jobs where vendor = $vendor and type = 'incremental'

-- name: othersOwe
-- What the other live imports of this vendor still have to fetch, one row each.
select greatest(0, coalesce(total, 0) - coalesce((sync_cursor->>'activities_imported')::integer, 0)) as owed
from import_jobs
where vendor = $vendor and athlete_id <> $athleteId and import_is_live(status)

-- name: prune
delete from import_jobs where finished_at < $before

-- name: underWay
select id from import_jobs where athlete_id = $athleteId and import_is_live(status)

-- name: byStatus
select status, count(*) as count from import_jobs group by status
