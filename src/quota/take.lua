-- Counts one call in all of its windows, or in none.
-- KEYS[1] learned limits · then n counters · h held of short windows before · in single file: busy · then the held in which the call is noted
-- ARGV[1] the learned limits that the plan was made with · [2] now in ms ('' = this server's time) · [3] permit id in single file, else ''
-- ARGV[4] from, [5] until: when the plan is right (ms) · [6] n · [7] h · [8] how long one may keep others waiting (ms)
-- ARGV[9] TTL of a counter (ms) · then per counter: units, cap, which of the h is carried into it (0 = none)
-- then the units for each held in which the call is noted
-- Returns {'taken'|'full', now, count of each counter before} | {'changed', now, learned limits or nil} | {'mistimed', now} | {'busy', now}
local call = redis.call
local now = tonumber(ARGV[2])
if not now then
  local time = call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local n, h = ARGV[6] + 0, ARGV[7] + 0
local last = 1 + n + h
if ARGV[3] ~= '' then last = last + 1 end
local values = call('MGET', unpack(KEYS, 1, last))
if values[1] ~= ARGV[1] then return { 'changed', now, values[1] } end
if now < ARGV[4] + 0 or now >= ARGV[5] + 0 then return { 'mistimed', now } end
if ARGV[3] ~= '' and values[last] then return { 'busy', now } end

local answer = { 'taken', now }
local at = 10
for i = 2, 1 + n do
  local count = (values[i] or 0) + 0
  local carried = ARGV[at + 2]
  if carried ~= '0' then count = count + (values[1 + n + carried] or 0) end
  if count + ARGV[at] > ARGV[at + 1] + 0 then answer[1] = 'full' end
  answer[1 + i] = count
  at = at + 3
end
if answer[1] == 'full' then return answer end

at = 10
for i = 2, 1 + n do
  local units = ARGV[at]
  if call('INCRBY', KEYS[i], units) == units + 0 then call('PEXPIRE', KEYS[i], ARGV[9]) end
  at = at + 3
end
for i = last + 1, #KEYS do
  local units = ARGV[at]
  if call('INCRBY', KEYS[i], units) == units + 0 then call('PEXPIRE', KEYS[i], ARGV[9]) end
  at = at + 1
end
if ARGV[3] ~= '' then call('SET', KEYS[last], ARGV[3], 'PX', ARGV[8]) end
return answer
