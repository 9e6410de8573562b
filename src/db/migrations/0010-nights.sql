-- What was last handed on of an athlete's night, so that the same word is not handed on twice: a digest, not the night.
create table sleep_heard (
  athlete_id uuid not null references athlete on delete cascade,
  vendor text not null,
  date date not null,
  digest text not null,
  -- the vendor's word, or when it was heard
  captured_at timestamptz(3) not null,
  primary key (athlete_id, vendor, date)
);
