-- name: createAthlete
insert into athlete (id, name, timezone, created_at)
values ($1, $2, $3, $4)
returning id, name, timezone;

-- name: listAthletes
-- A page in order of id, which is the order of creation; $1 null starts at the beginning.
select id, name, timezone
from athlete
where $1::uuid is null or id > $1
order by id
limit $2;

-- name: athleteExists
select 1 as found
from athlete
where id = $1;

-- name: timezone
select timezone from athlete where id = $1;

-- name: createToken
-- No row when there is no such athlete, rather than an error of the foreign key.
insert into api_token (id, athlete_id, token_hash, created_at)
select $1, a.id, $3, $4
from athlete a
where a.id = $2
returning id;

-- name: listTokens
select id, created_at
from api_token
where athlete_id = $1 and revoked_at is null and ($2::uuid is null or id > $2)
order by id
limit $3;

-- name: revokeToken
-- The row stays, with the time of its revocation; no route shows it.
update api_token set revoked_at = $3
where id = $2 and athlete_id = $1 and revoked_at is null
returning id;

-- name: athleteOfToken
select athlete_id
from api_token
where token_hash = $1 and revoked_at is null;

-- name: createLink
-- No row when there is no such athlete. $2 null: a link for the operator.
insert into sign_in_link (token_hash, athlete_id, expires_at)
select $1, $2, $3
where $2::uuid is null or exists (select from athlete where id = $2)
returning expires_at;

-- name: useLink
-- Two clicks at once: one of them gets the row. An expired link is left for pruneLinks.
delete from sign_in_link
where token_hash = $1 and expires_at > $2
returning athlete_id;

-- name: createSession
insert into session (token_hash, athlete_id, expires_at)
values ($1, $2, $3);

-- name: sessionOf
select athlete_id
from session
where token_hash = $1 and expires_at > $2;

-- name: endSession
delete from session
where token_hash = $1;

-- name: pruneLinks
delete from sign_in_link
where expires_at <= $1;

-- name: pruneSessions
delete from session
where expires_at <= $1;
