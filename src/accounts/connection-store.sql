-- name: connect
-- A first consent, or a renewed one for the same account. No row when the athlete has another account of this vendor connected, or when
-- the row has another id than the one that the tokens are sealed for; a unique violation (connection_one_athlete) when the account is another athlete's.
insert into connection (id, athlete_id, vendor, vendor_athlete_id, status, scopes, access_token, access_expires_at, refresh_token, connected_at, consented_at, look_at)
values ($id, $athleteId, $vendor, $vendorAthleteId, 'active', $scopes, $accessToken, $accessExpiresAt, $refreshToken, $now, $now, $now)
on conflict (athlete_id, vendor) do update
set status = 'active', scopes = excluded.scopes, access_token = excluded.access_token,
    access_expires_at = excluded.access_expires_at, refresh_token = excluded.refresh_token,
    consented_at = excluded.consented_at, look_at = excluded.look_at, look_tries = 0,
    token_version = connection.token_version + 1, refresh_epoch = connection.refresh_epoch + 1, refresh_lease_until = null
where connection.vendor_athlete_id = excluded.vendor_athlete_id and connection.id = excluded.id
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

-- name: active
select athlete_id
from connection
where vendor = $vendor and status = 'active';

-- name: firstLooks
-- Not looked at since their consent; the longest wait first.
select id, athlete_id, vendor, consented_at, look_at, look_tries, true as is_new
from connection
where status = 'active' and look_tries = 0 and look_at <= $now
order by look_at
limit $limit;

-- name: laterLooks
-- Of each of these vendors the connections whose next look is due, the longest wait first.
select l.*
from unnest($vendors::text[]) as v (vendor)
cross join lateral (
  select c.id, c.athlete_id, c.vendor, c.consented_at, c.look_at, c.look_tries,
    c.last_sync_at is null or c.last_sync_at < c.consented_at as is_new
  from connection c
  where c.status = 'active' and c.vendor = v.vendor and c.look_tries > 0 and c.look_at <= $now
  order by c.look_at
  limit $limit
) as l;

-- name: moveLooks
-- Only where nobody has moved the next look since it was read: a new consent or a completed import knows better.
update connection c
set look_at = l.next_at, look_tries = l.tries
from unnest($ids::uuid[], $readAt::timestamptz[], $nextAt::timestamptz[], $tries::smallint[]) as l (id, read_at, next_at, tries)
where c.id = l.id and c.look_at = l.read_at;

-- name: heard
-- Where webhooks come, the next look is a day after the last sync.
update connection
set webhook_heard_at = $now,
    look_at = case
      when look_at is not null and last_sync_at >= consented_at then greatest(look_at, last_sync_at + interval '1 day')
      else look_at end
where vendor = $vendor and vendor_athlete_id = $vendorAthleteId
returning athlete_id;

-- name: synced
-- The last sync never moves back. One that began before the last consent does not answer it: another look is due at once.
update connection
set last_sync_at = greatest(last_sync_at, $at),
    look_tries = case when $at < consented_at then look_tries else 1 end,
    look_at = case
      when $at < consented_at then $at
      when $everyMs::float8 is null then null
      when webhook_heard_at > $heardSince then $at::timestamptz + greatest($everyMs * interval '1 millisecond', interval '1 day')
      else $at::timestamptz + $everyMs * interval '1 millisecond' end
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

-- name: hold
-- Whoever stores a vendor's data holds the connection until the commit. No row: it has ended, and nothing may be stored. The first step of
-- an erasure deletes the connection, and so waits for those who hold it.
select from connection
where athlete_id = $athleteId and vendor = $vendor
for key share;

-- name: lockAthlete
-- An erasure's beginning and a consent come one after the other: else a connection could be made of which everything is hidden.
select from athlete
where id = $athleteId
for no key update;

-- name: erasing
select id
from erasure
where athlete_id = $athleteId and vendor = $vendor and older_than is null;

-- name: beginErasure
-- One for each athlete and vendor. An erasure of everything takes over what retention has under way, with its counts.
insert into erasure as e (id, athlete_id, vendor, cause, older_than, counts, stepped_at)
values ($id, $athleteId, $vendor, $cause, $before, $counts::text::jsonb, $now)
on conflict (athlete_id, vendor) do update
set cause = excluded.cause, older_than = null, counts = e.counts || excluded.counts
where e.older_than is not null and excluded.older_than is null
returning id;

-- name: lockErasure
-- For one step. Of two who go on with it, one waits for the other's step.
select athlete_id, vendor, cause, older_than, counts
from erasure
where id = $id
for update;

-- name: saveErasure
update erasure set counts = $counts::text::jsonb, stepped_at = $now
where id = $id;

-- name: endErasure
delete from erasure
where id = $id;

-- name: leftErasures
-- Nobody has gone on with them for a while: their process has died.
select id
from erasure
where stepped_at <= $before
order by stepped_at
limit 100;

-- name: readReceipt
select id, vendor, cause, counts, deleted_at
from deletion_receipt
where id = $id;

-- name: createReceipt
insert into deletion_receipt (id, athlete_id, vendor, cause, counts, deleted_at)
values ($id, $athleteId, $vendor, $cause, $counts::text::jsonb, $deletedAt);

-- name: listReceipts
select id, vendor, cause, counts, deleted_at
from deletion_receipt
where athlete_id = $athleteId and ($after::uuid is null or id > $after)
order by id
limit $limit;
