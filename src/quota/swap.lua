-- Replaces the terms if they are still the ones given.
-- KEYS[1] terms · ARGV[1] from · ARGV[2] to · ARGV[3] TTL (ms)
-- Returns the terms in force, or nil when there are none.
local terms = redis.call('GET', KEYS[1])
if terms ~= ARGV[1] then return terms end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return ARGV[2]
