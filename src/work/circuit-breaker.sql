-- name: failed
-- When an open one is tried again, its probes say; a person who looks in vain puts that off for nobody.
insert into circuit_breaker as b (vendor, failures, probe_at) values ($vendor, 1, $probeAt)
on conflict (vendor) do update
set failures = b.failures + 1, cause = excluded.cause,
    probe_at = case when b.failures >= $failuresMax then b.probe_at else excluded.probe_at end;

-- name: inactive
-- Opens at once: one answer says it of all calls.
insert into circuit_breaker as b (vendor, failures, probe_at, cause) values ($vendor, $failuresMax, $probeAt, 'inactive')
on conflict (vendor) do update
set failures = greatest(b.failures, excluded.failures), probe_at = excluded.probe_at, cause = excluded.cause;

-- name: passed
delete from circuit_breaker where vendor = $vendor returning vendor;

-- name: probe
-- One among all processes tries.
update circuit_breaker set probe_at = $nextAt where vendor = $vendor and failures >= $failuresMax and probe_at <= $now returning vendor;

-- name: giveBack
update circuit_breaker set probe_at = $now where vendor = $vendor and probe_at = $nextAt;

-- name: isInactive
select from circuit_breaker where vendor = $vendor and cause = 'inactive' and probe_at > $now;
