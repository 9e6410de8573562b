-- name: add
insert into outbox (id, subject, payload, created_at)
select e.id, e.subject, e.payload, $2
from jsonb_to_recordset($1::text::jsonb) as e (id uuid, subject text, payload jsonb);
