-- Counters of tokens (scope: an athlete's id) outnumber the application's by far. The scope comes before the pool in the key, so that what
-- one scope has counted lies together; every look-up of a decision gives the whole key. Scope 'tokens' is new: the sum of all tokens'
-- counters of a window, once they are pruned.
alter table quota_window
  drop constraint quota_window_pkey,
  add primary key (vendor, scope, pool, window_name, starts_at);

-- Finds the counters of tokens by age. Partial, so that the application's counters pay nothing for it and no decision's plan can choose it:
-- all tokens of a vendor share a window's start.
create index quota_window_tokens on quota_window (vendor, starts_at) where scope not in ('app', 'tokens');

-- Takes the place of an index on the time alone, at the same cost for every call: every look at the ledger is at one vendor's calls, and a
-- vendor that is seldom called is found among a million calls of the others.
drop index api_requests_time;
create index api_requests_time on api_requests (vendor, requested_at);
