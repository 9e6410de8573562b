-- Ends a call's stay in the counters and lets the next one of a single file go.
-- KEYS[1] busy · then counters
-- ARGV[1] permit id · [2] TTL of a counter (ms) · then per counter: by how much it moves, the least it must be afterwards
-- Returns 1 when a count was below its least, else 0. A counter that is gone is not made by taking away; none falls below 0.
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
local raised = 0
for i = 2, #KEYS do
  local by, least = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
  local count = tonumber(redis.call('GET', KEYS[i]))
  local after = math.max(0, (count or 0) + by)
  if after < least then
    after = least
    raised = 1
  end
  if count then
    redis.call('SET', KEYS[i], string.format('%d', after), 'KEEPTTL')
  elseif after > 0 then
    redis.call('SET', KEYS[i], string.format('%d', after), 'PX', ARGV[2])
  end
end
return raised
