-- name: add
-- Whoever relays is told at the commit.
with added as (
  insert into outbox (id, subject, payload, created_at, traceparent)
  select e.id, e.subject, e.payload, $now, e.traceparent
  from jsonb_to_recordset($events::text::jsonb) as e (id uuid, subject text, payload jsonb, traceparent text)
  returning id
)
select pg_notify('paceline_outbox', '') where exists (select from added);
