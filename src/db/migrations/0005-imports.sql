-- One athlete's history from one vendor, however long it takes. The cursor says what has been fetched and what is owed; rows and cursor
-- commit together. epoch fences: a worker that lost its lease changes nothing.
create table import_jobs (
  id uuid primary key,
  athlete_id uuid not null references athlete on delete cascade,
  vendor text not null,
  type text not null constraint import_jobs_type_listed check (type in ('full', 'incremental')),
  status text not null,
  sync_cursor jsonb not null,
  -- activities that this import is to have in the end; null until it is known
  total integer,
  problems jsonb not null default '[]',
  retry_after timestamptz,
  -- why it waits: quota, budget (the budget service is away) or vendor
  pause text,
  error text,
  error_code text,
  lease_owner text,
  lease_expires_at timestamptz,
  epoch integer not null default 0,
  created_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz,
  updated_at timestamptz not null,
  constraint import_jobs_status_known check (status is not null and status in ('queued', 'started', 'rate_limited', 'completed', 'failed')),
  constraint import_jobs_lease_owner_iff check ((lease_owner is not null) = (status in ('started'))),
  constraint import_jobs_lease_expires_at_iff check ((lease_expires_at is not null) = (status in ('started'))),
  constraint import_jobs_retry_after_iff check ((retry_after is not null) = (status in ('rate_limited'))),
  constraint import_jobs_error_iff check ((error is not null) = (status in ('failed')))
);
-- One live import per athlete and vendor, however many click.
create unique index import_jobs_one_live on import_jobs (athlete_id, vendor) where status in ('queued', 'started', 'rate_limited');
create index import_jobs_due on import_jobs (retry_after) where status in ('queued', 'started', 'rate_limited');
create index import_jobs_athlete on import_jobs (athlete_id, id);

create or replace function import_jobs_status_guard() returns trigger language plpgsql as $$
begin
  if old.status || '>' || new.status not in ('queued>failed', 'queued>started', 'rate_limited>failed', 'rate_limited>started', 'started>completed', 'started>failed', 'started>queued', 'started>rate_limited') then
    raise exception 'illegal move % -> % on import_jobs', old.status, new.status using errcode = 'PL001';
  end if;
  return new;
end $$;
create or replace trigger import_jobs_status_guard before update of status on import_jobs
  for each row when (old.status is distinct from new.status) execute function import_jobs_status_guard();
