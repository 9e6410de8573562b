-- name: createState
insert into oauth_state (state_hash, athlete_id, vendor, code_verifier, expires_at)
values ($1, $2, $3, $4, $5);

-- name: useState
-- A state works once: of two callbacks with it, one gets the row.
delete from oauth_state
where state_hash = $1 and vendor = $2 and expires_at > $3
returning athlete_id, code_verifier;

-- name: pruneStates
delete from oauth_state
where expires_at <= $1;

-- name: connect
-- A first consent, or a renewed one for the same account. No row when the athlete has another account of this vendor connected;
-- a unique violation (connection_one_athlete) when the account is another athlete's.
insert into connection (id, athlete_id, vendor, vendor_athlete_id, status, scopes, access_token, access_expires_at, refresh_token, connected_at, consented_at)
values ($1, $2, $3, $4, 'active', $5, $6, $7, $8, $9, $9)
on conflict (athlete_id, vendor) do update
set status = 'active', scopes = excluded.scopes, access_token = excluded.access_token,
    access_expires_at = excluded.access_expires_at, refresh_token = excluded.refresh_token,
    consented_at = excluded.consented_at, token_version = connection.token_version + 1, refresh_epoch = connection.refresh_epoch + 1, refresh_lease_until = null
where connection.vendor_athlete_id = excluded.vendor_athlete_id
returning id;

-- name: list
select id, vendor, vendor_athlete_id, status, scopes, connected_at, last_sync_at
from connection
where athlete_id = $1
order by vendor;

-- name: read
select id, athlete_id, vendor, vendor_athlete_id, status, access_token, access_expires_at, refresh_token, token_version, refresh_lease_until
from connection
where id = $1;

-- name: idOf
select id
from connection
where athlete_id = $1 and vendor = $2;

-- name: ofVendorAthlete
select id, athlete_id
from connection
where vendor = $1 and vendor_athlete_id = $2;

-- name: ofVendor
select id, athlete_id
from connection
where vendor = $1
order by id;

-- name: active
select athlete_id
from connection
where vendor = $1 and status = 'active';

-- name: unsynced
-- Active connections of a vendor whose data was last complete at $2 or earlier ($4 where a webhook was heard since $3), or never, or not
-- since the last consent. "since" is the time that applied.
select c.athlete_id, c.consented_at, t.since, c.last_sync_at is null or c.last_sync_at < c.consented_at as is_new
from connection c
cross join lateral (select case when c.webhook_heard_at > $3 then $4::timestamptz else $2::timestamptz end as since) as t
where c.status = 'active' and c.vendor = $1
  and (c.last_sync_at is null or c.last_sync_at < c.consented_at or c.last_sync_at <= t.since)
order by c.last_sync_at, c.id;

-- name: heard
update connection
set webhook_heard_at = $3
where vendor = $1 and vendor_athlete_id = $2
returning athlete_id;

-- name: synced
-- The time never moves back.
update connection
set last_sync_at = greatest(last_sync_at, $3)
where athlete_id = $1 and vendor = $2;

-- name: claimRefresh
-- Gives one caller of all processes the right to refresh: only for the version it saw, and only while no lease is held ($3 now).
update connection
set refresh_epoch = refresh_epoch + 1, refresh_lease_until = $4
where id = $1 and token_version = $2 and status = 'active' and (refresh_lease_until is null or refresh_lease_until <= $3)
returning refresh_epoch, refresh_token;

-- name: saveRefresh
-- Fenced: a refresher whose lease was taken over changes nothing. A vendor that gives no new refresh token keeps the old one valid.
update connection
set access_token = $3, access_expires_at = $4, refresh_token = coalesce($5, refresh_token),
    token_version = token_version + 1, refresh_lease_until = null
where id = $1 and refresh_epoch = $2
returning token_version;

-- name: releaseRefresh
update connection
set refresh_lease_until = null
where id = $1 and refresh_epoch = $2;

-- name: needsReauth
-- Happens once: later refusals find the state already set.
update connection
set status = 'needs_reauth', refresh_lease_until = null
where id = $1 and token_version = $2 and status = 'active'
returning id;

-- name: remove
delete from connection
where athlete_id = $1 and vendor = $2
returning id;

-- name: createReceipt
insert into deletion_receipt (id, athlete_id, vendor, cause, counts, deleted_at)
values ($1, $2, $3, $4, $5::text::jsonb, $6);

-- name: listReceipts
select id, vendor, cause, counts, deleted_at
from deletion_receipt
where athlete_id = $1 and ($2::uuid is null or id > $2)
order by id
limit $3;
