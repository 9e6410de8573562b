-- Ends a call's stay in the counters and lets the next one of a single file go.
-- KEYS[1] learned limits · KEYS[2] busy · then n counters · then the held of short windows before
-- ARGV[1] permit id · [2] TTL of a counter (ms) · [3] n · then per counter: by how much it moves, the least it must be afterwards,
-- and which of the held may have arrived in it since (0 = none)
-- Returns {1 when a count was below its least, also with what may have arrived, else 0; the learned limits in force or nil}.
-- A counter that is gone is not made by taking away; none falls below 0.
local call = redis.call
if call('GET', KEYS[2]) == ARGV[1] then call('DEL', KEYS[2]) end
local n, ahead = ARGV[3] + 0, 0
for i = 1, n do
  local at = 1 + 3 * i
  local by, least, carried = ARGV[at] + 0, ARGV[at + 1] + 0, ARGV[at + 2] + 0
  local count = tonumber(call('GET', KEYS[2 + i]))
  local after = math.max(0, (count or 0) + by)
  if after < least then
    local late = carried > 0 and tonumber(call('GET', KEYS[2 + n + carried]) or 0) or 0
    if after + late < least then ahead = 1 end
    after = least
  end
  if count then
    call('SET', KEYS[2 + i], string.format('%d', after), 'KEEPTTL')
  elseif after > 0 then
    call('SET', KEYS[2 + i], string.format('%d', after), 'PX', ARGV[2])
  end
end
return { ahead, call('GET', KEYS[1]) }
