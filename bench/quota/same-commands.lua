-- The Redis commands of a take that is granted (src/quota/take.lua, not in single file), and nothing else: what the rules cost on top.
-- KEYS and ARGV as there.
redis.call('TIME')
local n, h = ARGV[6], ARGV[7]
local values = redis.call('MGET', unpack(KEYS, 1, 1 + n + h))
for i = 1, n do redis.call('INCRBY', KEYS[1 + i], ARGV[7 + 3 * i]) end
for i = 2 + n + h, #KEYS do redis.call('INCRBY', KEYS[i], ARGV[10 + 3 * n + i - 2 - n - h]) end
return values
