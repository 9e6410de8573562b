-- The request ledger: every call to a vendor, written before it leaves. Who spent the quota is a query on it. A call that never
-- left is deleted again; one without settled_at is under way, or its process died: it counts as spent.
create table api_requests (
  id uuid primary key,
  vendor text not null,
  -- null: nobody's (subscriptions), or the athlete has parted; no reference: checking it would be a tenth of a call's cost
  athlete_id uuid,
  endpoint text not null,
  call_class text not null constraint api_requests_class_known check (call_class in ('live', 'backfill')),
  requested_at timestamptz not null,
  settled_at timestamptz,
  outcome text,
  status integer,
  constraint api_requests_settled_with_outcome check ((settled_at is null) = (outcome is null))
);
create index api_requests_time on api_requests (requested_at);

-- What was counted in each window. held: calls under way, noted in their pool's shortest window only. scope is 'app', or the athlete
-- whose token has a pool of its own.
create table quota_window (
  vendor text not null,
  pool text not null,
  scope text not null,
  window_name text not null,
  starts_at timestamptz not null,
  used integer not null constraint quota_window_used_counts check (used >= 0),
  held integer not null default 0 constraint quota_window_held_counts check (held >= 0),
  primary key (vendor, pool, scope, window_name, starts_at)
);

-- What the vendor has taught us (quota/terms.ts), and the call that others wait for when calls go in single file. Its row is also
-- what serialises the decisions about one vendor.
create table quota_terms (
  vendor text primary key,
  terms text not null,
  busy_permit uuid,
  busy_until timestamptz
);

-- Whose turn it is among those who backfill. pass grows with every call; who has the least goes next. present_until: until then an
-- athlete counts as having work, asked or not.
create table quota_turn (
  vendor text not null,
  athlete_id uuid not null references athlete on delete cascade,
  rank integer not null,
  pass bigint not null,
  present_until timestamptz not null,
  primary key (vendor, athlete_id, rank)
);

-- One counter of a plan (quota/plan.ts): the units that a call adds, the cap that the count may not pass, the short window whose calls
-- under way count here too, and whether the call is noted as under way.
create type quota_counter as (
  pool text, scope text, window_name text, starts_at timestamptz, units integer, cap integer,
  carried_window text, carried_at timestamptz, holds boolean
);

-- Counts one call in all of its windows, or in none, and writes its ledger row. Answers as take.lua does: {taken|full, count of each
-- counter before}, {changed, terms in force} or {busy}; one value, because a record costs more than the counting. The lock on the terms
-- makes decisions about one vendor come one after another. Every lookup is by primary key whatever the values are, so planning anew
-- for each call would find the same plan.
create function quota_take(
  p_id uuid, p_vendor text, p_athlete uuid, p_endpoint text, p_class text,
  p_terms text, p_now timestamptz, p_busy_until timestamptz, p_counters quota_counter[]
) returns text[] language plpgsql set plan_cache_mode to force_generic_plan as $$
declare
  in_force text;
  busy timestamptz;
  counts integer[];
  fits boolean;
  known integer;
begin
  select t.terms, t.busy_until into in_force, busy from quota_terms t where t.vendor = p_vendor for update;
  if not found then
    insert into quota_terms (vendor, terms) values (p_vendor, p_terms) on conflict do nothing;
    select t.terms, t.busy_until into in_force, busy from quota_terms t where t.vendor = p_vendor for update;
  end if;
  if in_force <> p_terms then return array['changed', in_force]; end if;
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
    update quota_terms t set busy_permit = p_id, busy_until = p_busy_until where t.vendor = p_vendor;
  end if;
  if p_class = 'backfill' and p_athlete is not null then
    update quota_turn set pass = pass + 1 where vendor = p_vendor and athlete_id = p_athlete;
  end if;
  insert into api_requests (id, vendor, athlete_id, endpoint, call_class, requested_at)
    values (p_id, p_vendor, p_athlete, p_endpoint, p_class, p_now);
  return array['taken'] || counts::text[];
end
$$;

-- What the end of a call does to one counter: used_by and held_by move it, least raises it to the vendor's own count.
create type quota_move as (
  pool text, scope text, window_name text, starts_at timestamptz, used_by integer, held_by integer, least integer,
  carried_window text, carried_at timestamptz
);

-- Ends a call: settled with its outcome, or (outcome null) given back because it never left. Only the first ending counts. Answers as
-- end.lua does: {1 when the vendor's count was above ours, calls that may have arrived late included, else 0; the terms in force}.
create function quota_end(
  p_id uuid, p_vendor text, p_now timestamptz, p_outcome text, p_status integer, p_moves quota_move[]
) returns text[] language plpgsql set plan_cache_mode to force_generic_plan as $$
declare
  in_force text;
  ahead boolean;
  known integer;
begin
  select t.terms into in_force from quota_terms t where t.vendor = p_vendor for update;
  update quota_terms t set busy_permit = null, busy_until = null where t.vendor = p_vendor and t.busy_permit = p_id;
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
