-- Work that paces itself is there also between its calls: an athlete's own work of a later rank waits for it until then.
alter table quota_turn add column paced_until timestamptz;
