-- name: erase
-- A worker that is at one of them finds its row gone and stores nothing more.
delete from import_jobs where athlete_id = $1 and vendor = $2
