-- name: ring
-- An earlier time moves a ring that waits. While its key is being answered the new ring is kept beside it. Sleepers are told of every change.
with rung as (
  insert into bell_ring as r (bell, key, due_at) values ($bell, $key, $at)
  on conflict (bell, key) do update set
    due_at = case when r.taken_by is null then excluded.due_at else r.due_at end,
    again_at = case when r.taken_by is null then r.again_at else excluded.due_at end
  where excluded.due_at < case when r.taken_by is null then r.due_at else coalesce(r.again_at, 'infinity') end
  returning bell
)
select pg_notify('paceline_bell', $news) from rung;

-- name: take
-- What is due, the longest due first; a lease that has ended is due too. Without `mine` a process whose renewals fail would answer its
-- own rings a second time while the first answer still runs.
with due as materialized (
  select bell, key from bell_ring
  where due_at <= $now and bell = any($bells) and (taken_by is null or taken_by <> all($mine))
  order by due_at limit $most for update skip locked
)
update bell_ring r set taken_by = gen_random_uuid()::text, due_at = $until, tries = r.tries + 1
from due where r.bell = due.bell and r.key = due.key
returning r.bell, r.key, r.taken_by as id, r.tries;

-- name: next
select due_at as at from bell_ring
where bell = any($bells) and (taken_by is null or taken_by <> all($mine))
order by due_at limit 1;

-- name: renew
update bell_ring set due_at = $until where taken_by = any($mine);

-- name: shorten
-- A lease that was made when time ran faster may end hours from now.
update bell_ring set due_at = $until where taken_by is not null and due_at > $until;

-- name: end
-- Nothing when another ring came meanwhile (`again`), or when the lease was lost.
delete from bell_ring where taken_by = $id and again_at is null returning bell;

-- name: again
update bell_ring set taken_by = null, due_at = again_at, again_at = null, tries = 0 where taken_by = $id returning due_at as at;

-- name: retry
-- A ring that came meanwhile comes in place of the retry if it is earlier, and after it if it is later.
update bell_ring set taken_by = null, due_at = least(again_at, $at), again_at = case when again_at > $at then again_at end
where taken_by = $id returning due_at as at;
