-- name: offer
-- There is work in these lanes from $at on. A lane that is ready already stays as it is; one that a worker has is looked at once more.
-- In order: two that offer the same lanes would wait for each other.
insert into work_lane as l (vendor, athlete_id, class, due_at)
select $vendor, athlete_id, $class, $at from unnest($athleteIds::uuid[]) as athlete_id
order by athlete_id
on conflict (vendor, athlete_id, class) do update
set due_at = least(l.due_at, excluded.due_at), again = l.owner is not null
where l.owner is not null or (not l.ready and (l.due_at is null or l.due_at > excluded.due_at));

-- name: remind
-- As offer, for those athletes whose lane is neither ready, nor will be, nor is being served: it was forgotten.
insert into work_lane as l (vendor, athlete_id, class, due_at)
select $vendor, a.athlete_id, $class, $at from unnest($athleteIds::uuid[]) as a (athlete_id)
where not exists (
  select from work_lane o
  where o.vendor = $vendor and o.athlete_id = a.athlete_id and o.class = $class and (o.ready or o.owner is not null or o.due_at is not null))
order by a.athlete_id
on conflict (vendor, athlete_id, class) do update set due_at = excluded.due_at where l.owner is null and not l.ready
returning l.athlete_id;

-- name: claim
-- Takes the lane that was served least, live ones first, and no lane of an athlete who is being served. Work that paces itself has its time,
-- unless other work would take its share meanwhile. Being answered sooner is no merit: in backfill nobody gets further ahead of one who is
-- being served than $ahead, unless that one takes some seconds (those who were claimed after $presentAfter do not).
-- A gate that is closed for long is passed now and then, by one lane, so that the budget is asked again ($askedBefore). Not where the day's
-- reserve refused: it decays call by call, and whoever asked would take the next one.
-- While failures are counted, no more calls are under way than the circuit breaker still allows; when it is open, a probe at its time.
-- isCrowded: others are served, or could be; isHurried: others do not pace themselves.
with present as materialized (
  select o.class, min(o.served) as served from work_lane o
  where o.vendor = $vendor and o.owner is not null and o.claimed_at > $presentAfter
  group by o.class
), gate as materialized (
  select g.class, coalesce(b.failures, 0) as failures, g.opens_at > $now as is_closed,
    case when p.served is null or g.class = 'live' then 9223372036854775807 else p.served + $ahead end as most,
    g.paced_until is null or g.paced_until <= $now
    or exists (select from work_lane o where o.vendor = $vendor and o.class = g.class and not o.paced and o.ready and o.owner is null)
    or exists (select from work_lane o where o.vendor = $vendor and o.class = g.class and not o.paced and o.owner is not null) as paced_too
  from work_gate g
  left join present p on p.class = g.class
  left join circuit_breaker b on b.vendor = g.vendor
  where g.vendor = $vendor and g.class = any ($classes::text[]) and (g.opens_at is null or g.opens_at <= $now or (g.asked_at <= $askedBefore and (g.cause <> 'reserve' or g.asked_at = '-infinity')))
    and case when b.failures >= $failuresMax then b.probe_at <= $now
      else b.failures is null
        or b.failures + (select count(*) from work_lane o where o.vendor = $vendor and o.owner is not null) < $failuresMax end
), next as materialized (
  select f.class, f.athlete_id, f.served, gate.failures, gate.is_closed
  from gate
  cross join lateral (
    select * from (
      select l.class, l.athlete_id, l.served from work_lane l
      where l.vendor = $vendor and l.class = gate.class and not l.paced and l.served <= gate.most and l.ready and l.owner is null
        and not exists (select from work_lane o where o.vendor = l.vendor and o.athlete_id = l.athlete_id and o.owner is not null)
      order by l.served, l.athlete_id limit 1 for update skip locked) as unpaced
    union all
    select * from (
      select l.class, l.athlete_id, l.served from work_lane l
      where l.vendor = $vendor and l.class = gate.class and l.paced and l.served <= gate.most and l.ready and l.owner is null
        and gate.paced_too
        and not exists (select from work_lane o where o.vendor = l.vendor and o.athlete_id = l.athlete_id and o.owner is not null)
      order by l.served, l.athlete_id limit 1 for update skip locked) as paced
  ) as f
  order by f.class desc, f.served, f.athlete_id
  limit 1
), passed as (
  update work_gate g
  set pass = greatest(g.pass, next.served), asked_at = case when next.is_closed then $now else g.asked_at end
  from next where g.vendor = $vendor and g.class = next.class and (g.pass < next.served or next.is_closed)
)
update work_lane l
set owner = $owner, claimed_at = $now, lease_until = $leaseUntil, epoch = nextval('work_lane_epoch'), served = l.served + 1,
    ready = false, again = false, due_at = null
from next
where l.vendor = $vendor and l.athlete_id = next.athlete_id and l.class = next.class
returning l.athlete_id as "athleteId", l.class as "callClass", l.epoch, l.owed, next.failures, next.failures >= $failuresMax as "isProbe",
  coalesce(next.is_closed, false) as "isAskedAgain",
  exists (select from work_lane o where o.vendor = $vendor and o.class = l.class and o.athlete_id <> l.athlete_id
    and o.ready and o.owner is null)
  or exists (select from work_lane o where o.vendor = $vendor and o.class = l.class and o.athlete_id <> l.athlete_id
    and o.owner is not null) as "isCrowded",
  exists (select from work_lane o where o.vendor = $vendor and o.class = l.class and o.athlete_id <> l.athlete_id and not o.paced
    and o.ready and o.owner is null)
  or exists (select from work_lane o where o.vendor = $vendor and o.class = l.class and o.athlete_id <> l.athlete_id and not o.paced
    and o.owner is not null) as "isHurried";

-- name: renew
-- In the transaction that stores a piece, or while one takes long. No row: another worker has the lane.
update work_lane l
set lease_until = $leaseUntil, served = served + $more
where l.vendor = $vendor and l.athlete_id = $athleteId and l.class = $class and l.epoch = $epoch and l.owner = $owner
returning exists (
  select from work_lane o where o.vendor = $vendor and o.class = $class and o.ready and o.owner is null and o.athlete_id <> $athleteId
) or exists (
  select from work_lane o where o.vendor = $vendor and o.class = $class and o.owner is not null and o.athlete_id <> $athleteId
) as "isCrowded";

-- name: finish
-- Gives the lane back: ready at once, at a time, or when the next work is offered. Work that was offered meanwhile is looked at. A burst
-- counts for those who come late, too.
with given as (
  update work_lane
  set owner = null, claimed_at = null, lease_until = null, ready = $ready or again, due_at = case when $ready or again then null else $dueAt::timestamptz end,
      again = false, paced = $paced, served = served + $more, owed = $owed
  where vendor = $vendor and athlete_id = $athleteId and class = $class and epoch = $epoch and owner = $owner
  returning served
)
update work_gate g set pass = given.served - 1 from given where g.vendor = $vendor and g.class = $class and g.pass < given.served - 1;

-- name: promote
-- Makes due lanes ready, and takes those of dead workers away. Having been away is no credit: one starts where those stand who are served.
with due as materialized (
  select athlete_id, class from work_lane
  where vendor = $vendor and due_at is not null and owner is null and due_at <= $now
  order by due_at limit $limit for update skip locked
), expired as materialized (
  select athlete_id, class from work_lane
  where vendor = $vendor and owner is not null and lease_until <= $now
  order by lease_until limit $limit for update skip locked
), start as materialized (
  select g.class, greatest(g.pass, (
    select min(o.served) - 1 from work_lane o
    where o.vendor = $vendor and o.class = g.class and o.owner is not null and o.lease_until > $now)) as served
  from work_gate g
  where g.vendor = $vendor
)
update work_lane l
set ready = true, due_at = null, owner = null, claimed_at = null, lease_until = null, again = false,
    served = greatest(l.served, start.served)
from (select * from due union all select * from expired) as d
left join start on start.class = d.class
where l.vendor = $vendor and l.athlete_id = d.athlete_id and l.class = d.class
returning 1 as promoted;

-- name: abandon
-- Only for a process that has the store to itself: whoever had a lane is gone.
update work_lane set ready = true, due_at = null, owner = null, claimed_at = null, lease_until = null, again = false
where owner is not null;

-- name: shorten
-- A lease that was made when time ran faster would last for hours.
update work_lane set lease_until = $leaseUntil where vendor = $vendor and owner is not null and lease_until > $leaseUntil;

-- name: outlook
-- When something changes by itself, or has since the look that began at $since: a lane comes due, a lease or a gate ends, one who hangs is not
-- waited for any more, work that paces itself goes on, the breaker lets a probe. And whether a lane is ready now.
select case when n.at is not null then greatest(n.at, $now) end as "nextAt",
  exists (select from work_lane where vendor = $vendor and ready and owner is null) as "hasReady"
from (select least(
  (select min(due_at) from work_lane where vendor = $vendor and due_at is not null and owner is null),
  (select min(lease_until) from work_lane where vendor = $vendor and owner is not null),
  (select min(claimed_at) + ($since::timestamptz - $presentAfter::timestamptz) from work_lane
    where vendor = $vendor and owner is not null and class = 'backfill' and claimed_at > $presentAfter),
  (select min(opens_at) from work_gate where vendor = $vendor and opens_at > $since),
  (select min(asked_at) + ($since::timestamptz - $askedBefore::timestamptz) from work_gate
    where vendor = $vendor and opens_at > $since and asked_at > $askedBefore and cause <> 'reserve'),
  (select min(paced_until) from work_gate where vendor = $vendor and paced_until > $since),
  (select probe_at from circuit_breaker where vendor = $vendor and failures >= $failuresMax and probe_at > $since)) as at) as n;

-- name: busy
select athlete_id as "athleteId" from work_lane where vendor = $vendor and owner is not null;
