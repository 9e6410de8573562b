-- When the athlete last said yes: a renewed consent is followed by an import at once, whatever was imported before.
alter table connection add column consented_at timestamptz;
update connection set consented_at = connected_at;
alter table connection alter column consented_at set not null;
-- When a webhook of this connection last reached us: then what is new need not be asked for so often.
alter table connection add column webhook_heard_at timestamptz;

-- When a detail, or the photos, last could not be had: polls leave it alone for a while.
alter table activity add column detail_failed_at timestamptz;
alter table activity add column photos_failed_at timestamptz;
