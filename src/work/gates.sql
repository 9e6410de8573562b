-- name: open
-- The rows that claims look at.
insert into work_gate (vendor, class) select $vendor, class from unnest(array['live', 'backfill']) as class on conflict do nothing;

-- name: close
insert into work_gate as g (vendor, class, cause, pool, window_name, opens_at)
values ($vendor, $class, $cause, $pool, $window, $opensAt)
on conflict (vendor, class) do update
set cause = excluded.cause, pool = excluded.pool, window_name = excluded.window_name, opens_at = excluded.opens_at;

-- name: closed
-- Why nobody is served, by vendor and class. The circuit breaker closes both classes, and counts more than a budget that refuses.
select g.vendor, g.class as "callClass", coalesce(b.cause, g.cause) as cause,
  case when b.vendor is null then g.pool end as pool, case when b.vendor is null then g.window_name end as "window",
  case when b.vendor is null then g.opens_at else greatest(b.probe_at, g.opens_at) end as "opensAt"
from work_gate g
left join circuit_breaker b on b.vendor = g.vendor and b.failures >= $failuresMax
where b.vendor is not null or g.opens_at > $now;

-- name: pace
-- One call of work that paces itself, of all processes.
update work_gate set paced_until = $until
where vendor = $vendor and class = 'backfill' and (paced_until is null or paced_until <= $now)
returning vendor;
