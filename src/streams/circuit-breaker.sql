-- name: failed
insert into stream_trouble as t (vendor, failures, probe_at) values ($1, 1, $2)
on conflict (vendor) do update set failures = t.failures + 1, probe_at = excluded.probe_at;

-- name: passed
delete from stream_trouble where vendor = $1;

-- name: read
select failures, probe_at as "probeAt" from stream_trouble where vendor = $1;

-- name: probe
-- One among all processes tries; the next may at $3.
update stream_trouble set probe_at = $3 where vendor = $1 and probe_at <= $2 returning vendor;

-- name: giveBack
update stream_trouble set probe_at = $2 where vendor = $1 and probe_at = $3;
