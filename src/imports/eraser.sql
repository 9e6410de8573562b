-- name: import_jobs
-- Not by retention, which is about data and not about imports. A worker that runs one of them finds its connection gone and stores nothing.
delete from import_jobs
where id in (
  select id from import_jobs
  where athlete_id = $athleteId and vendor = $vendor and $before::timestamptz is null
  limit $limit)
returning 1 as erased;
