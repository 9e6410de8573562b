-- Sets counters and learned limits to the ledger's: in a server that has lost them, has old ones, or of which an answer was lost.
-- KEYS[1] learned limits · KEYS[2] busy · then counters
-- ARGV[1] learned limits · [2] TTL (ms) · [3] permit ids whose answers were lost: none of them keeps a single file waiting · then per counter: its value
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
local busy = redis.call('GET', KEYS[2])
if busy and string.find(ARGV[3], busy, 1, true) then redis.call('DEL', KEYS[2]) end
for i = 3, #KEYS do
  if ARGV[1 + i] == '0' then
    redis.call('DEL', KEYS[i])
  else
    redis.call('SET', KEYS[i], ARGV[1 + i], 'PX', ARGV[2])
  end
end
return 'OK'
