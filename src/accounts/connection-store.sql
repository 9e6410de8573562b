-- name: createState
insert into oauth_state (state_hash, athlete_id, vendor, code_verifier, expires_at)
values ($stateHash, $athleteId, $vendor, $codeVerifier, $expiresAt);

-- name: useState
-- A state works once: of two callbacks with it, one gets the row.
delete from oauth_state
where state_hash = $stateHash and vendor = $vendor and expires_at > $now
returning athlete_id, code_verifier;

-- name: pruneStates
delete from oauth_state
where expires_at <= $now;

-- name: connect
-- A first consent, or a renewed one for the same account. No row when the athlete has another account of this vendor connected;
-- a unique violation (connection_one_athlete) when the account is another athlete's.
insert into connection (id, athlete_id, vendor, vendor_athlete_id, status, scopes, access_token, access_expires_at, refresh_token, connected_at, consented_at)
values ($id, $athleteId, $vendor, $vendorAthleteId, 'active', $scopes, $accessToken, $accessExpiresAt, $refreshToken, $now, $now)
on conflict (athlete_id, vendor) do update
set status = 'active', scopes = excluded.scopes, access_token = excluded.access_token,
    access_expires_at = excluded.access_expires_at, refresh_token = excluded.refresh_token,
    consented_at = excluded.consented_at, token_version = connection.token_version + 1, refresh_epoch = connection.refresh_epoch + 1, refresh_lease_until = null
where connection.vendor_athlete_id = excluded.vendor_athlete_id
returning id;

-- name: list
select id, vendor, vendor_athlete_id, status, scopes, connected_at, last_sync_at
from connection
where athlete_id = $athleteId
order by vendor;

-- name: read
select id, athlete_id, vendor, vendor_athlete_id, status, access_token, access_expires_at, refresh_token, token_version, refresh_lease_until
from connection
where id = $id;

-- name: idOf
select id
from connection
where athlete_id = $athleteId and vendor = $vendor;

-- name: ofVendorAthlete
select id, athlete_id
from connection
where vendor = $vendor and vendor_athlete_id = $vendorAthleteId;

-- name: ofVendor
select id, athlete_id
from connection
where vendor = $vendor
order by id;

-- name: active
select athlete_id
from connection
where vendor = $vendor and status = 'active';

-- name: unsynced
-- Active connections of these vendors whose data has not been complete for too long, was never, or not since the last consent. "since" is
-- the time that applied: another one where a webhook was heard lately.
select c.athlete_id, c.vendor, c.consented_at, t.since, c.last_sync_at is null or c.last_sync_at < c.consented_at as is_new
from connection c
cross join lateral (
  select case when c.webhook_heard_at > $heardSince then $beforeIfHeard::timestamptz else $before::timestamptz end as since
) as t
where c.status = 'active' and c.vendor = any ($vendors::text[])
  and (c.last_sync_at is null or c.last_sync_at < c.consented_at or c.last_sync_at <= t.since)
order by c.last_sync_at, c.id;

-- name: heard
update connection
set webhook_heard_at = $now
where vendor = $vendor and vendor_athlete_id = $vendorAthleteId
returning athlete_id;

-- name: synced
-- The time never moves back.
update connection
set last_sync_at = greatest(last_sync_at, $at)
where athlete_id = $athleteId and vendor = $vendor;

-- name: claimRefresh
-- The right to refresh, for one caller among all processes: only the version that was seen, and only when no lease is held.
update connection
set refresh_epoch = refresh_epoch + 1, refresh_lease_until = $leaseUntil
where id = $id and token_version = $version and status = 'active' and (refresh_lease_until is null or refresh_lease_until <= $now)
returning refresh_epoch, refresh_token;

-- name: saveRefresh
-- Fenced: a refresher whose lease was taken over changes nothing. A vendor that gives no new refresh token keeps the old one valid.
update connection
set access_token = $accessToken, access_expires_at = $accessExpiresAt, refresh_token = coalesce($refreshToken, refresh_token),
    token_version = token_version + 1, refresh_lease_until = null
where id = $id and refresh_epoch = $epoch
returning token_version;

-- name: releaseRefresh
update connection
set refresh_lease_until = null
where id = $id and refresh_epoch = $epoch;

-- name: needsReauth
-- Happens once: later refusals find the state already set.
update connection
set status = 'needs_reauth', refresh_lease_until = null
where id = $id and token_version = $version and status = 'active'
returning id;

-- name: remove
delete from connection
where athlete_id = $athleteId and vendor = $vendor
returning id;

-- name: createReceipt
insert into deletion_receipt (id, athlete_id, vendor, cause, counts, deleted_at)
values ($id, $athleteId, $vendor, $cause, $counts::text::jsonb, $deletedAt);

-- name: listReceipts
select id, vendor, cause, counts, deleted_at
from deletion_receipt
where athlete_id = $athleteId and ($after::uuid is null or id > $after)
order by id
limit $limit;
