-- Wake-ups (bell/bell-rows.ts). They were pg-boss's jobs; those that wait there need no carrying over: rows are the truth, sweeps ring for
-- what is due, and schedules set their first ring at every start.
drop schema if exists pgboss cascade;

create table bell_ring (
  bell text not null,
  key text not null,
  -- when it is to be taken: its time, or while it is being answered the end of its lease
  due_at timestamptz not null,
  -- one answer to it; null while it waits
  taken_by text,
  -- a ring that came meanwhile
  again_at timestamptz,
  tries integer not null default 0,
  primary key (bell, key)
);
create index bell_ring_due on bell_ring (due_at);
create index bell_ring_taken on bell_ring (taken_by) where taken_by is not null;
