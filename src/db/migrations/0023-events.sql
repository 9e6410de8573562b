-- Events leave the outbox for the bus, in order for each athlete, and their rows go with that.
drop index outbox_waiting;
drop index outbox_ageless;
drop index outbox_age;
delete from outbox where published_at is not null;
alter table outbox drop column published_at;
-- the order in which events are published; those that wait keep that of their ids, not of where they lie
alter table outbox add column position bigint;
update outbox o set position = n.position
from (select id, row_number() over (order by id) as position from outbox) as n
where n.id = o.id;
alter table outbox alter column position set not null;
alter table outbox alter column position add generated always as identity;
select setval(pg_get_serial_sequence('outbox', 'position'), (select count(*) + 1 from outbox), false);
-- the trace that the event belongs to, as W3C has it
alter table outbox add column traceparent text;
-- how often the bus has refused it, and when it is offered again; those of the same athlete that come after it wait
alter table outbox add column refusals smallint not null default 0;
alter table outbox add column retry_at timestamptz;
-- A normalised night has its athlete and its vendor in a record.
create or replace function outbox_athlete(payload jsonb) returns text language sql immutable parallel safe
  return coalesce(payload ->> 'athleteId', payload #>> '{payload,userId}', payload #>> '{record,userId}');
create or replace function outbox_vendor(payload jsonb) returns text language sql immutable parallel safe
  return coalesce(payload ->> 'vendor', payload #>> '{payload,raw,source}', payload #>> '{record,vendor}');
alter table outbox add column athlete text generated always as (outbox_athlete(payload)) stored;
create index outbox_waiting on outbox (position) where retry_at is null;
create index outbox_refused on outbox (retry_at) where retry_at is not null;

-- Who publishes just now; one process at a time. Until `until` the others leave it alone.
create table outbox_relay (
  id boolean primary key default true constraint outbox_relay_one check (id),
  owner text not null,
  until timestamptz not null
);

-- The bus of an installation without NATS: streams of messages, and for each durable consumer what it has not acknowledged yet.
create table bus_message (
  seq bigint generated always as identity primary key,
  stream text not null,
  subject text not null,
  message_id text not null,
  headers jsonb not null,
  data bytea not null,
  published_at timestamptz(3) not null,
  -- whose it is, where that can be read in it
  user_id text,
  vendor text,
  constraint bus_message_once unique (stream, message_id)
);
create index bus_message_age on bus_message (stream, published_at);
create index bus_message_whose on bus_message (user_id, vendor);

create table bus_durable (
  name text primary key,
  -- `a.b.c`, or `a.>` for everything below
  subject text not null
);

create table bus_delivery (
  durable text not null references bus_durable on delete cascade,
  seq bigint not null references bus_message on delete cascade,
  -- when it is to be delivered; while somebody has it, when their time is over
  due_at timestamptz(3) not null,
  attempts integer not null default 0,
  primary key (durable, seq)
) with (fillfactor = 70);
create index bus_delivery_due on bus_delivery (durable, due_at, seq);
create index bus_delivery_seq on bus_delivery (seq);

-- What no consumer could handle, as the stream of dead letters has it, so that it can be found by subject, by athlete and by age.
create table dead_letter (
  id uuid primary key,
  -- its id in the stream
  letter_id text not null constraint dead_letter_once unique,
  -- its place in the stream; null where the bus refused it
  stream_seq bigint,
  subject text not null,
  -- null where nobody said it
  original_subject text,
  -- of the event, the same for all of its replays
  event_id text not null,
  reason text not null,
  error text not null,
  attempt integer not null,
  first_at timestamptz(3) not null,
  last_at timestamptz(3) not null,
  headers jsonb not null,
  payload bytea not null,
  user_id text,
  vendor text
);
create index dead_letter_subject on dead_letter (subject, id);
create index dead_letter_event on dead_letter (event_id);
create index dead_letter_whose on dead_letter (user_id, vendor);
create index dead_letter_age on dead_letter (last_at);

create table dead_letter_replay (
  dead_letter_id uuid not null references dead_letter on delete cascade,
  -- counted over all letters of the event
  number integer not null,
  asked_at timestamptz not null,
  -- null until the bus has it
  published_at timestamptz,
  primary key (dead_letter_id, number)
);

-- Letters that were erased here and are still in the stream; a stream that was lost and made again has others in the same places.
create table dead_letter_gone (
  stream_seq bigint not null,
  letter_id text not null,
  primary key (stream_seq, letter_id)
);

-- Answers to ingest requests that carried an Idempotency-Key.
create table ingest_key (
  key text primary key,
  body_hash text not null,
  event_id uuid not null,
  -- the bus has it: the same answer from now on
  is_answered boolean not null default false,
  created_at timestamptz not null
);
create index ingest_key_age on ingest_key (created_at);
