-- name: cached
select a.athlete_id as "athleteId", a.sport, a.stream_fetch_status as status, s.fetched_at as "fetchedAt", h.shape
from activity a
left join activity_stream s on s.activity_id = a.id and a.stream_fetch_status = 'success'
left join activity_shape h on h.activity_id = a.id and h.version = $version and h.fetched_at = s.fetched_at
  and h.sport = a.sport
where a.id = $id
  and not exists (select from erasure e where e.athlete_id = a.athlete_id and e.vendor = a.provider and e.older_than is null);

-- name: channels
-- Not those that a reset left.
select s.stream_data::text as data, s.fetched_at as "fetchedAt"
from activity a
join activity_stream s on s.activity_id = a.id
where a.id = $id and a.stream_fetch_status = 'success';

-- name: keep
-- Not for an activity, or streams, that went away meanwhile.
insert into activity_shape (activity_id, version, fetched_at, sport, shape)
select $id, $version, $fetchedAt, $sport, $shape::text::jsonb
from activity_stream
where activity_id = $id and fetched_at = $fetchedAt
for key share
on conflict (activity_id) do update
set version = excluded.version, fetched_at = excluded.fetched_at, sport = excluded.sport, shape = excluded.shape;
