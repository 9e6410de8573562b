-- name: take
insert into stream_lock as l (athlete_id, owner, expires_at) values ($athleteId, $owner, $until)
on conflict (athlete_id) do update set owner = excluded.owner, expires_at = excluded.expires_at
where l.owner = excluded.owner or l.expires_at <= $now
returning athlete_id;

-- name: release
delete from stream_lock where athlete_id = $athleteId and owner = $owner and expires_at > $now returning athlete_id;
