-- name: import_jobs
-- Not by retention, which is about data and not about imports. A worker that runs one of them finds its row gone and stores nothing more.
delete from import_jobs
where athlete_id = $athleteId and vendor = $vendor and $before::timestamptz is null;
