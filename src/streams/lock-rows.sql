-- name: take
-- $3 until, $4 now.
insert into stream_lock as l (athlete_id, owner, expires_at) values ($1, $2, $3)
on conflict (athlete_id) do update set owner = excluded.owner, expires_at = excluded.expires_at
where l.owner = excluded.owner or l.expires_at <= $4
returning athlete_id;

-- name: release
delete from stream_lock where athlete_id = $1 and owner = $2 and expires_at > $3 returning athlete_id;
