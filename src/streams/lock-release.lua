-- Gives a lock back, if it is still the owner's.
-- KEYS[1] lock · ARGV[1] owner
-- Returns 1 when it was, else 0.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
