-- Takes a lock that is free or the owner's already.
-- KEYS[1] lock · ARGV[1] owner · ARGV[2] TTL (ms)
-- Returns 1 when it is the owner's now, else 0.
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
