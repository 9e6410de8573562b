-- name: hear
-- Which of these nights are news: not heard of, or other than what was handed on last and not older. The rest give no row. Sorted, so
-- that two who hear the same nights wait and do not deadlock.
insert into sleep_heard as h (athlete_id, vendor, date, digest, captured_at)
select $athleteId, n.vendor, n.date, n.digest, n.captured_at
from jsonb_to_recordset($nights::text::jsonb) as n (vendor text, date date, digest text, captured_at timestamptz)
order by n.vendor, n.date
on conflict (athlete_id, vendor, date) do update
set digest = excluded.digest, captured_at = excluded.captured_at
where h.digest <> excluded.digest and h.captured_at <= excluded.captured_at
returning vendor, date::text as date;
