-- Replaces the learned limits if they are still the ones given.
-- KEYS[1] learned limits · ARGV[1] from · ARGV[2] to · ARGV[3] TTL (ms)
-- Returns the learned limits in force, or nil when there are none.
local learned = redis.call('GET', KEYS[1])
if learned ~= ARGV[1] then return learned end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return ARGV[2]
