-- An athlete's connection to a vendor. Tokens are encrypted by accounts (AES-256-GCM with a key id), so bytea.
-- token_version grows with every saved token; refresh_epoch with every claim of the right to refresh: a refresher that lost its
-- lease changes nothing. A vendor's account belongs to one athlete.
create table connection (
  id uuid primary key,
  athlete_id uuid not null references athlete on delete cascade,
  vendor text not null,
  vendor_athlete_id text not null,
  status text not null constraint connection_status_known check (status in ('active', 'needs_reauth')),
  scopes text[] not null,
  access_token bytea not null,
  access_expires_at timestamptz,
  refresh_token bytea,
  token_version integer not null default 1,
  refresh_epoch integer not null default 0,
  refresh_lease_until timestamptz,
  connected_at timestamptz not null,
  last_sync_at timestamptz,
  constraint connection_one_per_vendor unique (athlete_id, vendor),
  constraint connection_one_athlete unique (vendor, vendor_athlete_id)
);

-- A consent under way. The state is known by its hash only, works once and expires.
create table oauth_state (
  state_hash bytea primary key,
  athlete_id uuid not null references athlete on delete cascade,
  vendor text not null,
  code_verifier bytea,
  expires_at timestamptz not null
);

-- What was deleted, when and why: the proof that deletion happened outlives the data.
create table deletion_receipt (
  id uuid primary key,
  athlete_id uuid not null references athlete on delete cascade,
  vendor text not null,
  cause text not null constraint deletion_receipt_cause_known check (cause in ('disconnected', 'deauthorised', 'retention')),
  counts jsonb not null,
  deleted_at timestamptz not null
);
create index deletion_receipt_athlete on deletion_receipt (athlete_id, id);
