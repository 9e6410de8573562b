-- name: failed
insert into circuit_breaker as t (vendor, failures, probe_at) values ($vendor, 1, $probeAt)
on conflict (vendor) do update set failures = t.failures + 1, probe_at = excluded.probe_at;

-- name: passed
delete from circuit_breaker where vendor = $vendor;

-- name: read
select failures, probe_at as "probeAt" from circuit_breaker where vendor = $vendor;

-- name: probe
-- One among all processes tries.
update circuit_breaker set probe_at = $nextAt where vendor = $vendor and probe_at <= $now returning vendor;

-- name: giveBack
update circuit_breaker set probe_at = $now where vendor = $vendor and probe_at = $nextAt;
