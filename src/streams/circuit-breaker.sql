-- name: failed
insert into stream_trouble as t (vendor, failures, probe_at) values ($vendor, 1, $probeAt)
on conflict (vendor) do update set failures = t.failures + 1, probe_at = excluded.probe_at;

-- name: passed
delete from stream_trouble where vendor = $vendor;

-- name: read
select failures, probe_at as "probeAt" from stream_trouble where vendor = $vendor;

-- name: probe
-- One among all processes tries.
update stream_trouble set probe_at = $nextAt where vendor = $vendor and probe_at <= $now returning vendor;

-- name: giveBack
update stream_trouble set probe_at = $now where vendor = $vendor and probe_at = $nextAt;
