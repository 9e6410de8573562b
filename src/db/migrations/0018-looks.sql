-- When a connection is looked at next without anybody asking; null: only after a new consent, or when a person starts an import.
-- In milliseconds, as whoever moves it has read it.
alter table connection add column look_at timestamptz(3);
-- Looks since the consent; from 1 again after a completed import. The first look is free, the others count in the polls' share.
alter table connection add column look_tries smallint not null default 0;
create index connection_first_look on connection (look_at) where status = 'active' and look_tries = 0;
create index connection_later_look on connection (vendor, look_at) where status = 'active' and look_tries > 0;

-- Who was imported since the consent is due half an hour after the last time, or a day where webhooks are heard: in the order of
-- before, and within the polls' share. Who was not is due at once, as before.
update connection c
set look_tries = case when last.at is null then 0 else 1 end,
    look_at = coalesce(
      last.at + case when c.webhook_heard_at > last.at - interval '1 day' then interval '1 day' else interval '30 minutes' end,
      c.consented_at)
from (
  select o.id, greatest(
    (select max(j.created_at) from import_jobs j
     where j.athlete_id = o.athlete_id and j.vendor = o.vendor and j.created_at >= o.consented_at),
    case when o.last_sync_at >= o.consented_at then o.last_sync_at end) as at
  from connection o
) as last
where last.id = c.id;

-- When looks of a kind may begin again, because the last ones are paid for: at the newest (incremental), or at whole lists (full).
create table poll_share (
  vendor text not null,
  type text not null constraint poll_share_type_listed check (type in ('full', 'incremental')),
  next_at timestamptz not null,
  primary key (vendor, type)
);
drop index import_jobs_polls;
alter table import_jobs drop column list_calls;

-- Retention finds what is too old of a vendor by these, whoever's it is, without reading the tables.
create index activity_age on activity (provider, start_time, athlete_id);
create index checkin_age on checkin (provider, created_at, athlete_id);
create index sleep_heard_age on sleep_heard (vendor, date, athlete_id);
-- Whose an event is, and how old its activity or night: texts, because ISO times sort like the times they name.
create function outbox_athlete(payload jsonb) returns text language sql immutable parallel safe
  return coalesce(payload ->> 'athleteId', payload #>> '{payload,userId}');
create function outbox_vendor(payload jsonb) returns text language sql immutable parallel safe
  return coalesce(payload ->> 'vendor', payload #>> '{payload,raw,source}');
create function outbox_age(payload jsonb) returns text language sql immutable parallel safe
  return coalesce(payload ->> 'start', payload #>> '{payload,date}') collate "C";
create index outbox_whose on outbox (outbox_athlete(payload), outbox_vendor(payload));
create index outbox_age on outbox (outbox_vendor(payload), outbox_age(payload));
-- A deletion is as old as its row, and stays until it is published.
create index outbox_ageless on outbox (outbox_vendor(payload), created_at) where published_at is not null and outbox_age(payload) is null;

-- Pruning finds what has ended by these.
create index import_jobs_ended on import_jobs (finished_at) where next_full_at is null;
create index oauth_state_expired on oauth_state (expires_at);
create index sign_in_link_expired on sign_in_link (expires_at);
create index session_expired on session (expires_at);
