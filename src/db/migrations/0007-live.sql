-- Tells whoever watches which of an athlete's things has changed: after the commit, or never. What became of it is read from its row.
-- A table with an id and an athlete_id joins by a trigger of its own, which names the kind.
create function announce_change() returns trigger language plpgsql as $$
begin
  perform pg_notify('paceline_live', json_build_object('kind', tg_argv[0], 'athleteId', new.athlete_id, 'id', new.id)::text);
  return null;
end $$;

create trigger import_jobs_announce after insert or update on import_jobs
  for each row execute function announce_change('import');
