-- The Redis commands of a take that is granted (src/quota/take.lua), and nothing else: what the rules cost on top.
-- KEYS and ARGV as there.
redis.call('TIME')
local n, h = ARGV[6], ARGV[7]
local values = redis.call('MGET', unpack(KEYS, 1, 2 + n + h))
for i = 1, n do redis.call('INCRBY', KEYS[2 + i], ARGV[7 + 3 * i]) end
for i = 1, h do redis.call('INCRBY', KEYS[2 + n + h + i], ARGV[9 + 3 * n + i]) end
return values
