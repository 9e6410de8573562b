-- name: rank
insert into sleep_priority as p (vendor, rank)
select vendor, n from unnest($vendors::text[]) with ordinality as v (vendor, n)
on conflict (vendor) do update set rank = excluded.rank where p.rank <> excluded.rank;

-- name: store
-- Migration 24 has what these three do.
select sleep_store($nights::text::jsonb, $now);

-- name: hold
select sleep_hold($nights::text::jsonb);

-- name: settle
select sleep_settle($nights::text::jsonb, $now);

-- name: probe
-- Nobody's night, in a transaction that is undone: an empty name is no person's.
with one as (
  insert into sleep_record (user_id, date, vendor, duration_minutes, captured_at)
  values ('', '2000-01-01', gen_random_uuid()::text, 0, '2000-01-01')
)
insert into sleep_data (user_id, date, duration_minutes, vendor, captured_at)
values (gen_random_uuid()::text, '2000-01-01', 0, '', '2000-01-01');

-- name: list
-- Newest first. What is being erased is not shown.
select d.date::text as date, d.duration_minutes, d.quality_score, d.vendor, d.captured_at
from sleep_data d
where d.user_id = $userId and ($from::date is null or d.date >= $from) and ($to::date is null or d.date <= $to)
  and ($after::date is null or d.date < $after)
  and not exists (
    select from erasure e where e.athlete_id::text = d.user_id and e.vendor = d.vendor and e.older_than is null)
order by d.date desc
limit $limit;
