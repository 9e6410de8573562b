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

-- name: takeTurn
-- The right to exchange a code of this athlete, for one caller among all processes. No row while another has it.
insert into consent_turn (athlete_id, vendor, owner, lease_until)
values ($athleteId, $vendor, $owner, $leaseUntil)
on conflict (athlete_id, vendor) do update
set owner = excluded.owner, lease_until = excluded.lease_until
where consent_turn.lease_until <= $now
returning owner;

-- name: holdTurn
-- Within the transaction that stores the grant: no row for one whose turn was taken over. Nobody takes it over meanwhile.
select owner
from consent_turn
where athlete_id = $athleteId and vendor = $vendor and owner = $owner
for update;

-- name: endTurn
delete from consent_turn
where athlete_id = $athleteId and vendor = $vendor and owner = $owner;

-- name: pruneTurns
delete from consent_turn
where lease_until <= $now;

-- name: createPending
-- In place of an older one of the same account, whose grant the vendor has ended. No row when the athlete is gone.
insert into pending_consent (id, athlete_id, vendor, vendor_athlete_id, scopes, sealed_grant, granted_at, token_hash, browser_hash, expires_at)
select $id, a.id, $vendor, $vendorAthleteId, $scopes, $sealedGrant, $grantedAt, $tokenHash, $browserHash, $expiresAt
from athlete a
where a.id = $athleteId
on conflict (vendor, vendor_athlete_id) do update
set id = excluded.id, athlete_id = excluded.athlete_id, scopes = excluded.scopes, sealed_grant = excluded.sealed_grant,
    granted_at = excluded.granted_at, token_hash = excluded.token_hash, browser_hash = excluded.browser_hash, expires_at = excluded.expires_at
returning (select name from athlete where id = $athleteId) as athlete_name;

-- name: readPending
select id, athlete_id, vendor, vendor_athlete_id, scopes, sealed_grant, granted_at
from pending_consent
where token_hash = $tokenHash and browser_hash = $browserHash and vendor = $vendor and expires_at > $now;

-- name: takePending
-- Of two who confirm, or of one who confirms and one who cancels, one gets the row.
delete from pending_consent
where id = $id and expires_at > $now
returning id;

-- name: endPending
-- A cancelled one has expired: whoever comes next withdraws it, should this process die before it has.
update pending_consent
set expires_at = $now
where id = $id and expires_at > $now
returning id;

-- name: endPendingsOf
update pending_consent
set expires_at = $now
where athlete_id = $athleteId and vendor = $vendor and expires_at > $now;

-- name: expiredPendings
select id, athlete_id, vendor, vendor_athlete_id, scopes, sealed_grant, granted_at
from pending_consent
where expires_at <= $now
order by expires_at
limit $limit;

-- name: dropPending
delete from pending_consent
where id = $id;

-- name: dropPendingOfAccount
-- The vendor has ended its grant, because a newer one was stored.
delete from pending_consent
where vendor = $vendor and vendor_athlete_id = $vendorAthleteId;

-- name: accountInUse
-- Whether somebody here has this account or is being asked about it: to revoke another grant of it would end that one, too.
select 1 as found
from connection
where vendor = $vendor and vendor_athlete_id = $vendorAthleteId
union all
select 1
from pending_consent
where vendor = $vendor and vendor_athlete_id = $vendorAthleteId and expires_at > $now;
