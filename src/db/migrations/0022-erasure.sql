-- What is being deleted of an athlete and a vendor, in short steps (accounts/erasure.ts). While a row without older_than is here, there is no
-- connection, and nothing of the two is shown: readers leave out what it names. It goes with the last rows, in the transaction that writes
-- the receipt, which has its id.
create table erasure (
  id uuid primary key,
  athlete_id uuid not null references athlete on delete cascade,
  vendor text not null,
  cause text not null constraint erasure_cause_known check (cause in ('disconnected', 'deauthorised', 'retention')),
  -- retention: only what is older; null: everything
  older_than timestamptz,
  -- rows deleted so far, by table
  counts jsonb not null default '{}',
  -- the last step; whoever finds it long ago goes on
  stepped_at timestamptz not null,
  constraint erasure_one unique (athlete_id, vendor),
  constraint erasure_retention_has_an_age check ((older_than is null) = (cause <> 'retention'))
);
