-- name: claim
-- The event of a key. Whoever sends the same key again gets the same event, for a day.
insert into ingest_key as k (key, body_hash, event_id, created_at) values ($key, $bodyHash, $eventId, $now)
on conflict (key) do update set
  body_hash = case when k.created_at < $before then excluded.body_hash else k.body_hash end,
  event_id = case when k.created_at < $before then excluded.event_id else k.event_id end,
  is_answered = k.is_answered and k.created_at >= $before,
  created_at = case when k.created_at < $before then excluded.created_at else k.created_at end
returning body_hash, event_id, is_answered;

-- name: answer
update ingest_key set is_answered = true where key = $key and event_id = $eventId;

-- name: forget
-- What the bus refused is not on it, so the key is free again. Who was answered by then keeps theirs.
delete from ingest_key where key = $key and event_id = $eventId and not is_answered;

-- name: prune
delete from ingest_key where created_at < $before;
