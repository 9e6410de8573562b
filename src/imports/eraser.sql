-- name: erase
-- A worker that runs one of them finds its row gone and stores nothing more.
delete from import_jobs where athlete_id = $1 and vendor = $2
