-- Garmin sends a multi-sport activity as its legs and as their sum, in any order; a leg names the sum by its summary's id. The legs are shown.
-- The sum is hidden while a leg of it is here: whoever adds up would count it twice.
create index activity_legs on activity (athlete_id, (summary ->> 'parentSummaryId'))
  where provider = 'garmin' and summary ->> 'parentSummaryId' is not null;

create function activity_has_legs(athlete uuid, summary_id text) returns boolean language sql stable parallel safe
  return exists (
    select from activity
    where athlete_id = athlete and provider = 'garmin' and summary ->> 'parentSummaryId' is not null
      and summary ->> 'parentSummaryId' = summary_id);

-- A leg is always shown, so that two that name each other, or one that names itself, do not vanish.
create function activity_is_shown(a activity) returns boolean language sql stable parallel safe
  return a.provider <> 'garmin' or a.summary ->> 'parentSummaryId' is not null
    or not activity_has_legs(a.athlete_id, a.summary ->> 'summaryId');

-- What is stored gets the zone that a new one gets: one that has this offset all year.
update activity a
set timezone = z.name
from (
  select s.hours * 60 as minutes, 'Etc/GMT' || case when s.hours = 0 then '' else to_char(-s.hours, 'SGFM99') end as name
  from generate_series(-12, 14) as s (hours)
  union all
  values (-570, 'Pacific/Marquesas'), (270, 'Asia/Kabul'), (330, 'Asia/Kolkata'), (345, 'Asia/Kathmandu'), (390, 'Asia/Yangon'),
    (525, 'Australia/Eucla'), (570, 'Australia/Darwin')
) as z
where a.provider = 'garmin' and a.timezone is null and a.summary ->> 'startTimeOffsetInSeconds' = (z.minutes * 60)::text;
