-- Puts the counters of the ledger into a server that has lost them, or has old ones. A count that is already higher stays.
-- KEYS[1] terms · then counters · ARGV[1] the server's run_id · [2] terms · [3] TTL (ms) · then per counter: its least value
-- Returns the terms in force: those given, or another process's if it has rebuilt this same server before.
for i = 2, #KEYS do
  if tonumber(redis.call('GET', KEYS[i]) or 0) < tonumber(ARGV[2 + i]) then
    redis.call('SET', KEYS[i], ARGV[2 + i], 'PX', ARGV[3])
  end
end
local terms = redis.call('GET', KEYS[1])
if terms and string.sub(terms, 1, #ARGV[1]) == ARGV[1] then return terms end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return ARGV[2]
