-- name: beat
with gone as (delete from worker_heartbeat where seen_at < $before)
insert into worker_heartbeat (id, started_at, seen_at) values ($id, $now, $now)
on conflict (id) do update set seen_at = excluded.seen_at;

-- name: leave
delete from worker_heartbeat where id = $id;

-- name: living
select id, started_at, seen_at from worker_heartbeat where seen_at >= $since order by id;
