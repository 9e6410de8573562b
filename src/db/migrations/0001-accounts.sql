-- Athletes and what lets them (or the operator) in. Secrets are kept as SHA-256 hashes only: they are long and random, so a
-- plain hash is enough, and a copy of the database opens nothing.

create table athlete (
  id uuid primary key,
  name text not null constraint athlete_name_given check (name <> ''),
  -- null: the zone of the latest activity, else UTC
  timezone text,
  created_at timestamptz not null
);

create table api_token (
  id uuid primary key,
  athlete_id uuid not null references athlete on delete cascade,
  token_hash bytea not null unique,
  created_at timestamptz not null,
  revoked_at timestamptz
);
create index api_token_athlete on api_token (athlete_id);

-- A link works once: signing in deletes it. No athlete: the operator's.
create table sign_in_link (
  token_hash bytea primary key,
  athlete_id uuid references athlete on delete cascade,
  expires_at timestamptz not null
);

create table session (
  token_hash bytea primary key,
  athlete_id uuid references athlete on delete cascade,
  expires_at timestamptz not null
);
