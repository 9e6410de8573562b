-- name: ask
-- Says who goes first. Who is awake is expected back by $presentUntil; who was refused sleeps longer, and nobody waits for a sleeper:
-- the budget refuses them all. Having been away is no credit: one joins at the least pass of those present, or where the last ones left
-- off; having slept is a small one.
-- Hazard: the returned row shows this statement's own snapshot, so two who ask at once may both be let go; the next calls even it out.
with others as (
  select
    min(pass) filter (where present_until > $now and present_until <= $presentUntil) as awake,
    coalesce(min(pass) filter (where present_until > $now), max(pass), 0) as entry
  from quota_turn where vendor = $vendor and athlete_id <> $athleteId
), mine as (
  select
    max(pass) as pass,
    bool_or(present_until > $now) as present,
    bool_or(present_until > $now and present_until <= $presentUntil and rank < $rank) as outranked,
    max(paced_until) filter (where rank < $rank and paced_until > $now) as paced_until
  from quota_turn where vendor = $vendor and athlete_id = $athleteId
)
insert into quota_turn as t (vendor, athlete_id, rank, pass, present_until)
select $vendor, $athleteId, $rank,
  case when mine.present then greatest(mine.pass, others.awake - 10) else greatest(mine.pass, others.entry) end, $presentUntil
from mine, others
on conflict (vendor, athlete_id, rank) do update set pass = excluded.pass, present_until = excluded.present_until
returning
  pass <= coalesce((select awake from others), pass)
    and not coalesce((select outranked or paced_until is not null from mine), false) as first,
  (select paced_until from mine) as "pacedUntil"

-- name: stay
-- Refused until later: it is presumed to come back then.
update quota_turn set present_until = greatest(present_until, $presentUntil)
where vendor = $vendor and athlete_id = $athleteId and rank = $rank

-- name: pace
update quota_turn set paced_until = $pacedUntil where vendor = $vendor and athlete_id = $athleteId and rank = $rank

-- name: leave
update quota_turn set present_until = $now, paced_until = null where vendor = $vendor and athlete_id = $athleteId and rank = $rank

-- name: prune
delete from quota_turn where present_until < $before
