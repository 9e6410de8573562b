-- name: create
-- Creates an import, unless one is live. A full one goes on where the last failed full one stopped, if that one belongs to this connection
-- ($7: when it connected; an earlier connection may have been another account) and $6 does not ask to start from the beginning.
insert into import_jobs (id, athlete_id, vendor, type, status, sync_cursor, total, created_at, updated_at)
select $1, $2, $3, $4, 'queued', coalesce(last.sync_cursor, '{}'), last.total, $5, $5
from (select 1) as one
left join lateral (
  select sync_cursor, total, status from import_jobs
  where athlete_id = $2 and vendor = $3 and type = 'full'
    and created_at >= $7
  order by id desc limit 1
) as last on $4 = 'full' and not $6 and last.status = 'failed'
on conflict do nothing
returning *

-- name: live
select * from import_jobs where athlete_id = $1 and vendor = $2 and status in ('queued', 'started', 'rate_limited')

-- name: list
select * from import_jobs where athlete_id = $1 and ($2::uuid is null or id < $2) order by id desc limit $3

-- name: read
select * from import_jobs where id = $1 and athlete_id = $2

-- name: claim
-- $4 now. One worker of all processes gets the row, and only when it is due.
update import_jobs
set status = 'started', epoch = epoch + 1, lease_owner = $2, lease_expires_at = $3, retry_after = null, pause = null,
    started_at = coalesce(started_at, $4), updated_at = $4
where id = $1 and (status = 'queued' or (status = 'rate_limited' and retry_after <= $4))
returning *

-- name: save
-- Saves progress in the transaction that stores the rows, and renews the lease. No row: the lease was lost, so the rows must not be stored.
update import_jobs
set sync_cursor = $3::text::jsonb, total = $4, problems = $5::text::jsonb, lease_expires_at = $6, updated_at = $7
where id = $1 and epoch = $2 and status = 'started'
returning id

-- name: pause
-- The cursor counts faults in a row.
update import_jobs
set status = 'rate_limited', retry_after = $3, pause = $4,
    sync_cursor = sync_cursor || jsonb_build_object('faults',
      case when $4 = 'fault' then coalesce((sync_cursor->>'faults')::integer, 0) + 1 else 0 end),
    lease_owner = null, lease_expires_at = null, updated_at = $5
where id = $1 and epoch = $2 and status = 'started'
returning id

-- name: release
update import_jobs
set status = 'queued', lease_owner = null, lease_expires_at = null, updated_at = $3
where id = $1 and epoch = $2 and status = 'started'
returning id

-- name: complete
update import_jobs
set status = 'completed', lease_owner = null, lease_expires_at = null, finished_at = $3, updated_at = $3
where id = $1 and epoch = $2 and status = 'started'
returning id

-- name: fail
update import_jobs
set status = 'failed', error = $3, error_code = $4, lease_owner = null, lease_expires_at = null, retry_after = null, finished_at = $5, updated_at = $5
where id = $1 and epoch = $2 and status in ('queued', 'started', 'rate_limited')
returning id

-- name: expire
-- Frees the imports of workers that died.
update import_jobs
set status = 'queued', lease_owner = null, lease_expires_at = null, updated_at = $1
where status = 'started' and lease_expires_at <= $1
returning id

-- name: abandon
-- Only for a process that has the store to itself: whoever held a lease is gone.
update import_jobs
set status = 'queued', lease_owner = null, lease_expires_at = null, updated_at = $1
where status = 'started'
returning id

-- name: due
select id from import_jobs where status = 'queued' or (status = 'rate_limited' and retry_after <= $1) order by created_at limit 1000

-- name: unserved
-- The connections without a live import and without one created after both $4 and the consent. For the vendors in $5 a full import that
-- failed since the consent also counts: a person must start the next one. The connection whose last import is the oldest comes first, however that import ended.
select c.place
from unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::timestamptz[])
  with ordinality as c (athlete_id, vendor, consented_at, since, place)
where not exists (
  select from import_jobs j
  where j.athlete_id = c.athlete_id and j.vendor = c.vendor
    and (j.status in ('queued', 'started', 'rate_limited')
      or (j.created_at >= c.consented_at
        and (j.created_at > c.since or (j.status = 'failed' and j.type = 'full' and j.vendor = any ($5::text[])))))
)
order by (select max(j.created_at) from import_jobs j where j.athlete_id = c.athlete_id and j.vendor = c.vendor) nulls first, c.place

-- name: lastPoll
select max(created_at) as at from import_jobs where vendor = $1 and type = 'incremental'

-- name: othersOwe
-- What the other live imports of this vendor still have to fetch, one row each.
select greatest(0, coalesce(total, 0) - coalesce((sync_cursor->>'activities_imported')::integer, 0)) as owed
from import_jobs
where vendor = $1 and athlete_id <> $2 and status in ('queued', 'started', 'rate_limited')

-- name: prune
delete from import_jobs where finished_at < $1

-- name: underWay
select id from import_jobs where athlete_id = $1 and status in ('queued', 'started', 'rate_limited')

-- name: byStatus
select status, count(*) as count from import_jobs group by status
