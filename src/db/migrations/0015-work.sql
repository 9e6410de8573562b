-- Whose work is done next (src/work). A lane is one athlete's work of one class at one vendor; workers take the lane that was served
-- least. ready: it may be taken now; due_at: it becomes ready then. again: somebody offered work while a worker had it. paced: its next
-- piece was one that paces itself. owed: about how many calls it still needs; null where nobody counted. claimed_at: when its owner took it.
-- Every claim has an epoch of its own, also in a lane that was deleted and made anew.
create sequence work_lane_epoch;
create table work_lane (
  vendor text not null,
  athlete_id uuid not null references athlete on delete cascade,
  class text not null constraint work_lane_class_known check (class in ('live', 'backfill')),
  ready boolean not null default false,
  due_at timestamptz,
  again boolean not null default false,
  paced boolean not null default false,
  served bigint not null default 0,
  owed integer,
  owner text,
  claimed_at timestamptz,
  lease_until timestamptz,
  epoch bigint not null default 0,
  primary key (vendor, athlete_id, class),
  constraint work_lane_owner_has_lease check ((owner is null) = (lease_until is null) and (owner is null) = (claimed_at is null))
) with (fillfactor = 70);
create index work_lane_ready on work_lane (vendor, class, paced, served, athlete_id) where ready and owner is null;
create index work_lane_due on work_lane (vendor, due_at) where due_at is not null and owner is null;
create index work_lane_owned on work_lane (vendor, lease_until) where owner is not null;
-- Two claims at once do not see each other: of an athlete's two lanes only one is had.
create unique index work_lane_one on work_lane (vendor, athlete_id) where owner is not null;

-- One row for each vendor and class. cause and opens_at: nobody is served before then, and why; pool and window_name where the budget
-- refused. asked_at: when the budget last said so; limits change, so it is asked again from time to time. pass: what those who were served last had been served before; who comes late starts there. paced_until: the next call of work
-- that paces itself.
create table work_gate (
  vendor text not null,
  class text not null constraint work_gate_class_known check (class in ('live', 'backfill')),
  cause text,
  pool text,
  window_name text,
  opens_at timestamptz,
  asked_at timestamptz,
  pass bigint not null default 0,
  paced_until timestamptz,
  primary key (vendor, class),
  constraint work_gate_closed_with_cause check ((cause is null) = (opens_at is null) and (cause is null) = (asked_at is null))
);

-- The circuit breaker serves imports and streams alike. inactive: the vendor has switched the application off.
alter table circuit_breaker add column cause text not null default 'vendor'
  constraint circuit_breaker_cause_known check (cause in ('vendor', 'inactive'));

-- The processes that work, as they last said themselves.
create table worker_heartbeat (
  id uuid primary key,
  started_at timestamptz not null,
  seen_at timestamptz not null
);

-- Turns are lanes now, and so is the lock on an athlete's backlog. Who had no turn starts at the least of those who had one: at zero they
-- would be served alone until they had caught up.
insert into work_lane (vendor, athlete_id, class, due_at)
select distinct vendor, athlete_id, 'live', min(coalesce(retry_after, '-infinity')) over (partition by vendor, athlete_id)
from import_jobs where import_is_live(status);
insert into work_lane (vendor, athlete_id, class, due_at, owed)
select 'strava', athlete_id, 'backfill', '-infinity', count(*)
from activity where stream_is_waiting(stream_fetch_status) and external_activity_id is not null and provider = 'strava'
group by athlete_id;
update work_lane l set served = least.pass
from (select vendor, min(pass) as pass from quota_turn group by vendor) as least
where least.vendor = l.vendor and l.class = 'backfill';
update work_lane l set served = t.pass
from (select vendor, athlete_id, max(pass) as pass from quota_turn group by vendor, athlete_id) as t
where t.vendor = l.vendor and t.athlete_id = l.athlete_id and l.class = 'backfill';
insert into work_gate (vendor, class, pass)
select vendor, 'backfill', min(served) from work_lane where class = 'backfill' group by vendor;
drop table quota_turn;
drop table stream_lock;

-- An import is served call by call; the lane has the lease. call_class: of the call that it makes next.
alter table import_jobs
  drop constraint import_jobs_lease_owner_iff,
  drop constraint import_jobs_lease_expires_at_iff,
  drop column lease_owner,
  drop column lease_expires_at,
  add column call_class text not null default 'live' constraint import_jobs_class_listed check (call_class in ('live', 'backfill')),
  -- where the budget refused: the pool and the window that had no room
  add column pause_pool text,
  add column pause_window text,
  -- it waits for a gate, which says when it opens
  add column is_gated boolean not null default false;
update import_jobs set pause = 'limit' where pause = 'quota';
drop index import_jobs_due;
create index import_jobs_served on import_jobs (vendor, call_class) where status = 'started';
create index import_jobs_live on import_jobs (id) where status in ('queued', 'started', 'rate_limited');

-- An athlete's next streams.
create index activity_streams_waiting on activity (athlete_id, start_time desc, id desc)
  where stream_fetch_status in ('pending', 'failed', 'deferred') and external_activity_id is not null and provider = 'strava';

-- As before, without the turns.
create or replace function quota_take(
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
  insert into api_requests (id, vendor, athlete_id, endpoint, call_class, requested_at)
    values (p_id, p_vendor, p_athlete, p_endpoint, p_class, p_now);
  return array['taken'] || counts::text[];
end
$$;
