-- name: work_lane
-- Only with everything else. A worker that has the lane finds it gone and stores nothing more. One for each class: $limit is never reached.
delete from work_lane
where athlete_id = $athleteId and vendor = $vendor and $before::timestamptz is null and $limit > 0
returning 1 as erased;
