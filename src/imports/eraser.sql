-- name: import_jobs
-- Only with everything else: retention is about what was fetched, not about the fetching. A worker that is at one of them finds its row
-- gone and stores nothing more.
delete from import_jobs
where athlete_id = $athleteId and vendor = $vendor and $before::timestamptz is null;
