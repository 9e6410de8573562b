-- Counts one call in all of its windows, or in none.
-- KEYS[1] terms · KEYS[2] busy · then n counters · h held of the short windows before · h held of the present short windows
-- ARGV[1] terms the plan was made with · [2] now in ms ('' = this server's time) · [3] from, [4] until: when the plan is right (ms)
-- ARGV[5] n · [6] h · [7] permit id in single file, else '' · [8] how long it may keep others waiting (ms) · [9] TTL of a counter (ms)
-- then per counter: units, cap, which of the h is carried into it (0 = none) · then per held: units (0 = not noted)
-- Returns {'taken'|'full', now, count of each counter before} | {'changed', now, terms or nil} | {'mistimed', now} | {'busy', now}
local now = tonumber(ARGV[2])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local n, h = tonumber(ARGV[5]), tonumber(ARGV[6])
local values = redis.call('MGET', unpack(KEYS, 1, 2 + n + h))
if values[1] ~= ARGV[1] then return { 'changed', now, values[1] } end
if now < tonumber(ARGV[3]) or now >= tonumber(ARGV[4]) then return { 'mistimed', now } end
if ARGV[7] ~= '' and values[2] then return { 'busy', now } end

local answer = { 'taken', now }
for i = 1, n do
  local at = 7 + 3 * i
  local count = tonumber(values[2 + i] or 0)
  local carried = tonumber(ARGV[at + 2])
  if carried > 0 then count = count + (values[2 + n + carried] or 0) end
  if count + ARGV[at] > tonumber(ARGV[at + 1]) then answer[1] = 'full' end
  answer[2 + i] = count
end
if answer[1] == 'full' then return answer end

local function add(key, units)
  if redis.call('INCRBY', key, units) == tonumber(units) then redis.call('PEXPIRE', key, ARGV[9]) end
end
for i = 1, n do add(KEYS[2 + i], ARGV[7 + 3 * i]) end
for i = 1, h do
  local units = ARGV[9 + 3 * n + i]
  if units ~= '0' then add(KEYS[2 + n + h + i], units) end
end
if ARGV[7] ~= '' then redis.call('SET', KEYS[2], ARGV[7], 'PX', ARGV[8]) end
return answer
