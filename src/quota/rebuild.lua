-- Sets counters and learned limits to the ledger's: in a server that has lost them, has old ones, or of which an answer was lost.
-- KEYS[1] learned limits · then counters · ARGV[1] learned limits · ARGV[2] TTL (ms) · then per counter: its value
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
for i = 2, #KEYS do
  if ARGV[1 + i] == '0' then
    redis.call('DEL', KEYS[i])
  else
    redis.call('SET', KEYS[i], ARGV[1 + i], 'PX', ARGV[2])
  end
end
return 'OK'
