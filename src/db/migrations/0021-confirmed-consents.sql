-- A consent that came back in a browser which is neither the athlete's nor the operator's, until a person confirms or cancels it. The
-- grant is sealed for its row by accounts. The token is in the page's form, the browser's secret in its cookie; an answer needs both.
create table pending_consent (
  id uuid primary key,
  athlete_id uuid not null references athlete on delete cascade,
  vendor text not null,
  vendor_athlete_id text not null,
  scopes text[] not null,
  sealed_grant bytea not null,
  granted_at timestamptz not null,
  token_hash bytea not null unique,
  browser_hash bytea not null,
  expires_at timestamptz not null,
  -- A newer grant of an account ends the older one at the vendor, so one waits.
  constraint pending_consent_one_per_account unique (vendor, vendor_athlete_id)
);
create index pending_consent_athlete on pending_consent (athlete_id, vendor);
create index pending_consent_expired on pending_consent (expires_at);

-- Who exchanges a code of an athlete at a vendor just now: consents of one athlete take turns, so that the newest grant is stored last.
create table consent_turn (
  athlete_id uuid not null references athlete on delete cascade,
  vendor text not null,
  owner uuid not null,
  lease_until timestamptz not null,
  primary key (athlete_id, vendor)
);
