-- name: ask
-- Says who goes first. Who comes in anew joins at the least pass of those present: having been away is no credit.
-- Hazard: the returned row shows this statement's own snapshot, so two who ask at once may both be let go; the next calls even it out.
with others as (
  select min(pass) as least from quota_turn where vendor = $1 and athlete_id <> $2 and present_until > $4
), mine as (
  select max(pass) as pass, bool_or(present_until > $4) as present, bool_or(present_until > $4 and rank < $3) as outranked
  from quota_turn where vendor = $1 and athlete_id = $2
)
insert into quota_turn as t (vendor, athlete_id, rank, pass, present_until)
select $1, $2, $3,
  case when mine.present then mine.pass else greatest(coalesce(mine.pass, 0), coalesce(others.least, 0)) end, $5
from mine, others
on conflict (vendor, athlete_id, rank)
  do update set pass = excluded.pass, present_until = greatest(t.present_until, excluded.present_until)
returning
  pass <= coalesce((select least from others), pass) and not coalesce((select outranked from mine), false) as first

-- name: stay
-- Refused until later: it is presumed to come back then.
update quota_turn set present_until = greatest(present_until, $4) where vendor = $1 and athlete_id = $2 and rank = $3

-- name: leave
update quota_turn set present_until = $4 where vendor = $1 and athlete_id = $2 and rank = $3

-- name: prune
delete from quota_turn where present_until < $1
