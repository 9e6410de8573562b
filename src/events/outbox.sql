-- name: add
insert into outbox (id, subject, payload, created_at)
select e.id, e.subject, e.payload, $now
from jsonb_to_recordset($events::text::jsonb) as e (id uuid, subject text, payload jsonb);
