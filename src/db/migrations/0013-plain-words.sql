-- The tables take the names that the code has: learned limits (quota/learned-limits.ts) and circuit breaker (streams/circuit-breaker.ts).
-- The two functions are the same as before with the new names; a changed parameter name needs a new function.
alter table stream_trouble rename to circuit_breaker;
alter table quota_terms rename to quota_learned;
alter table quota_learned rename column terms to learned;
alter index stream_trouble_pkey rename to circuit_breaker_pkey;
alter index quota_terms_pkey rename to quota_learned_pkey;

drop function quota_take(uuid, text, uuid, text, text, text, timestamptz, timestamptz, quota_counter[]);
drop function quota_end(uuid, text, timestamptz, text, integer, quota_move[]);

-- Counts one call in all of its windows, or in none, and writes its ledger row. Answers as take.lua does: {taken|full, count of each
-- counter before}, {changed, learned limits in force} or {busy}; one value, because a record costs more than the counting. The lock on the
-- learned limits makes decisions about one vendor come one after another. Every lookup is by primary key, so a plan made anew for each call
-- would be the same.
create function quota_take(
  p_id uuid, p_vendor text, p_athlete uuid, p_endpoint text, p_class text,
  p_learned text, p_now timestamptz, p_busy_until timestamptz, p_counters quota_counter[]
) returns text[] language plpgsql set plan_cache_mode to force_generic_plan as $$
declare
  in_force text;
  busy timestamptz;
  counts integer[];
  fits boolean;
  known integer;
begin
  select t.learned, t.busy_until into in_force, busy from quota_learned t where t.vendor = p_vendor for update;
  if not found then
    insert into quota_learned (vendor, learned) values (p_vendor, p_learned) on conflict do nothing;
    select t.learned, t.busy_until into in_force, busy from quota_learned t where t.vendor = p_vendor for update;
  end if;
  if in_force <> p_learned then return array['changed', in_force]; end if;
  if p_busy_until is not null and busy > p_now then return array['busy']; end if;

  select array_agg(coalesce(w.used, 0) + coalesce(h.held, 0) order by c.ordinality),
         bool_and(coalesce(w.used, 0) + coalesce(h.held, 0) + c.units <= c.cap)
    into counts, fits
    from unnest(p_counters) with ordinality as c
    left join quota_window w on w.vendor = p_vendor and w.pool = c.pool and w.scope = c.scope
      and w.window_name = c.window_name and w.starts_at = c.starts_at
    left join quota_window h on h.vendor = p_vendor and h.pool = c.pool and h.scope = c.scope
      and h.window_name = c.carried_window and h.starts_at = c.carried_at;
  if not fits then return array['full'] || counts::text[]; end if;

  update quota_window w
    set used = w.used + c.units, held = w.held + case when c.holds then c.units else 0 end
    from unnest(p_counters) as c
    where w.vendor = p_vendor and w.pool = c.pool and w.scope = c.scope
      and w.window_name = c.window_name and w.starts_at = c.starts_at;
  get diagnostics known = row_count;
  if known < cardinality(p_counters) then
    insert into quota_window (vendor, pool, scope, window_name, starts_at, used, held)
      select p_vendor, c.pool, c.scope, c.window_name, c.starts_at, c.units, case when c.holds then c.units else 0 end
      from unnest(p_counters) as c
      on conflict do nothing;
  end if;
  if p_busy_until is not null then
    update quota_learned t set busy_permit = p_id, busy_until = p_busy_until where t.vendor = p_vendor;
  end if;
  if p_class = 'backfill' and p_athlete is not null then
    update quota_turn set pass = pass + 1 where vendor = p_vendor and athlete_id = p_athlete;
  end if;
  insert into api_requests (id, vendor, athlete_id, endpoint, call_class, requested_at)
    values (p_id, p_vendor, p_athlete, p_endpoint, p_class, p_now);
  return array['taken'] || counts::text[];
end
$$;

-- Ends a call: settled with its outcome, or (outcome null) given back because it never left. Only the first ending counts. Answers as
-- end.lua does: {1 when the vendor's count was above ours, calls that may have arrived late included, else 0; the learned limits in force}.
create function quota_end(
  p_id uuid, p_vendor text, p_now timestamptz, p_outcome text, p_status integer, p_moves quota_move[]
) returns text[] language plpgsql set plan_cache_mode to force_generic_plan as $$
declare
  in_force text;
  ahead boolean;
  known integer;
begin
  select t.learned into in_force from quota_learned t where t.vendor = p_vendor for update;
  update quota_learned t set busy_permit = null, busy_until = null where t.vendor = p_vendor and t.busy_permit = p_id;
  if p_outcome is null then
    delete from api_requests where id = p_id and settled_at is null;
  else
    update api_requests set settled_at = p_now, outcome = p_outcome, status = p_status where id = p_id and settled_at is null;
  end if;
  if not found then return array['0', in_force]; end if;

  select coalesce(bool_or(w.used + c.used_by + coalesce(h.held, 0) < c.least), false) into ahead
    from unnest(p_moves) as c
    join quota_window w on w.vendor = p_vendor and w.pool = c.pool and w.scope = c.scope
      and w.window_name = c.window_name and w.starts_at = c.starts_at
    left join quota_window h on h.vendor = p_vendor and h.pool = c.pool and h.scope = c.scope
      and h.window_name = c.carried_window and h.starts_at = c.carried_at
    where c.least > 0;
  update quota_window w
    set used = greatest(0, w.used + c.used_by, c.least), held = greatest(0, w.held + c.held_by)
    from unnest(p_moves) as c
    where w.vendor = p_vendor and w.pool = c.pool and w.scope = c.scope
      and w.window_name = c.window_name and w.starts_at = c.starts_at;
  get diagnostics known = row_count;
  if known < cardinality(p_moves) then
    insert into quota_window (vendor, pool, scope, window_name, starts_at, used)
      select p_vendor, c.pool, c.scope, c.window_name, c.starts_at, greatest(0, c.used_by, c.least)
      from unnest(p_moves) as c
      on conflict do nothing;
  end if;
  return array[case when ahead then '1' else '0' end, in_force];
end
$$;
