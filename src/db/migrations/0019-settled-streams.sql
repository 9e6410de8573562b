-- It came with the athlete's whole history, so it was not uploaded just before we saw it: missing streams settle from its end.
alter table activity add column from_full_list boolean not null default false;

-- What was entered at Strava by hand has no streams, and is not asked for. It goes the way of the lifecycle, through fetching; whoever is
-- asking for one finds its claim gone.
update activity
set stream_fetch_status = 'fetching', stream_fetch_epoch = stream_fetch_epoch + 1, stream_fetch_error = null,
    stream_fetch_deferred_until = null
where provider = 'strava' and manual and stream_is_waiting(stream_fetch_status);
update activity set stream_fetch_status = 'unavailable'
where provider = 'strava' and manual and stream_fetch_status = 'fetching';
