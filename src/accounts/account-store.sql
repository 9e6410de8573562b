-- name: createAthlete
insert into athlete (id, name, timezone, created_at)
values ($id, $name, $timezone, $now)
returning id, name, timezone;

-- name: listAthletes
-- A page in order of id, which is the order of creation; null starts at the beginning.
select id, name, timezone
from athlete
where $after::uuid is null or id > $after
order by id
limit $limit;

-- name: athleteExists
select 1 as found
from athlete
where id = $id;

-- name: timezone
select timezone from athlete where id = $id;

-- name: createToken
-- No row when there is no such athlete, rather than an error of the foreign key.
insert into api_token (id, athlete_id, token_hash, created_at)
select $id, a.id, $tokenHash, $now
from athlete a
where a.id = $athleteId
returning id;

-- name: listTokens
select id, created_at
from api_token
where athlete_id = $athleteId and revoked_at is null and ($after::uuid is null or id > $after)
order by id
limit $limit;

-- name: revokeToken
-- The row stays, so that the store can still tell since when a token opens nothing; no route shows it.
update api_token set revoked_at = $now
where id = $id and athlete_id = $athleteId and revoked_at is null
returning id;

-- name: athleteOfToken
select athlete_id
from api_token
where token_hash = $tokenHash and revoked_at is null;

-- name: createLink
-- No row when there is no such athlete; without one it is the operator's.
insert into sign_in_link (token_hash, athlete_id, expires_at)
select $tokenHash, $athleteId, $expiresAt
where $athleteId::uuid is null or exists (select from athlete where id = $athleteId)
returning expires_at;

-- name: useLink
-- Two clicks at once: one of them gets the row. An expired link is left for pruneLinks.
delete from sign_in_link
where token_hash = $tokenHash and expires_at > $now
returning athlete_id;

-- name: createSession
insert into session (token_hash, athlete_id, expires_at)
values ($tokenHash, $athleteId, $expiresAt);

-- name: sessionOf
select athlete_id
from session
where token_hash = $tokenHash and expires_at > $now;

-- name: endSession
delete from session
where token_hash = $tokenHash;

-- name: pruneLinks
delete from sign_in_link
where expires_at <= $now;

-- name: pruneSessions
delete from session
where expires_at <= $now;
