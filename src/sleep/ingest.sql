-- name: hear
-- Records the nights and gives those that are news: unknown, or different from what was handed on last and not older. Sorted, so that two
-- workers with the same nights wait for each other instead of deadlocking.
insert into sleep_heard as h (athlete_id, vendor, date, external_id, digest, captured_at)
select $athleteId, n.vendor, n.date, n.external_id, n.digest, n.captured_at
from jsonb_to_recordset($nights::text::jsonb) as n (vendor text, date date, external_id text, digest text, captured_at timestamptz)
order by n.vendor, n.date, n.external_id
on conflict (athlete_id, vendor, date, external_id) do update
set digest = excluded.digest, captured_at = excluded.captured_at
where h.digest <> excluded.digest and h.captured_at <= excluded.captured_at
returning vendor, date::text as date, external_id;
