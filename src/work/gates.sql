-- name: open
-- The rows that claims look at. What was refused before the start is asked again: limits and settings may be others now.
insert into work_gate as g (vendor, class) select $vendor, class from unnest(array['live', 'backfill']) as class
on conflict (vendor, class) do update set asked_at = '-infinity' where g.asked_at is not null;

-- name: close
insert into work_gate as g (vendor, class, cause, pool, window_name, opens_at, asked_at)
values ($vendor, $class, $cause, $pool, $window, $opensAt, $now)
on conflict (vendor, class) do update
set cause = excluded.cause, pool = excluded.pool, window_name = excluded.window_name, asked_at = excluded.asked_at,
    -- A time that was promised holds: asked again, the same refusal comes with a later one.
    opens_at = case
      when g.opens_at > $now and (g.cause, g.pool, g.window_name) is not distinct from (excluded.cause, excluded.pool, excluded.window_name)
      then least(g.opens_at, excluded.opens_at)
      else excluded.opens_at end;

-- name: passed
-- The budget granted a call although the gate is closed: it was asked again, and allows more than before.
update work_gate set opens_at = $now, asked_at = $now where vendor = $vendor and class = $class and opens_at > $now;

-- name: closed
-- Why nobody is served, by vendor and class, and until when. The circuit breaker closes both classes. Of a breaker and a budget the one that
-- keeps longer tells; but an application that is switched off is what its owner must hear.
select g.vendor, g.class as "callClass",
  case when c.is_breaker then b.cause else g.cause end as cause,
  case when not c.is_breaker then g.pool end as pool,
  case when not c.is_breaker then g.window_name end as "window",
  case when b.vendor is null then g.opens_at else greatest(b.probe_at, g.opens_at) end as "opensAt"
from work_gate g
left join circuit_breaker b on b.vendor = g.vendor and b.failures >= $failuresMax
cross join lateral (
  select b.vendor is not null and (b.cause = 'inactive' or g.opens_at is null or g.opens_at <= greatest(b.probe_at, $now)) as is_breaker) as c
where b.vendor is not null or g.opens_at > $now;

-- name: pace
-- One call of work that paces itself, of all processes.
update work_gate set paced_until = $until
where vendor = $vendor and class = 'backfill' and (paced_until is null or paced_until <= $now)
returning vendor;
