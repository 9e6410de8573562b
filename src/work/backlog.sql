-- name: all
-- The calls that athletes with work still need, and how many athletes need so many; rounded as callsBucket does (quota/forecast.ts).
select (round(l.owed / s.step) * s.step)::integer as owed, count(*)::integer as athletes
from work_lane l
cross join lateral (select power(2, floor(log(2, greatest(l.owed, 25) / 25.0))) as step) as s
where vendor = $vendor and class = $class and owed > 0 and (ready or owner is not null or due_at is not null)
group by 1
order by 1;

-- name: own
select owed from work_lane
where vendor = $vendor and athlete_id = $athleteId and class = $class and owed > 0
  and (ready or owner is not null or due_at is not null);
