-- Loads the request script named by KIT_SCRIPT, if any, and writes what wrk counted to KIT_REPORT as JSON.
-- Only the end of the run is hooked, so the load itself is the one that `wrk -s post.lua` makes.
local script = os.getenv("KIT_SCRIPT")
if script and script ~= "" then dofile(script) end

-- With KIT_UNIQUE no document is sent twice: its first string value is a new one each time.
if os.getenv("KIT_UNIQUE") and wrk.body then
  local _, start, value = wrk.body:find(':%s*"([^"\\]*)"')
  if start then
    local before, after = wrk.body:sub(1, start - #value - 1), wrk.body:sub(start)
    -- Each thread runs this file in a state of its own; an address makes their texts differ.
    local thread, number = tostring({}):match("0x(%x+)") or "0", 0
    function request()
      number = number + 1
      return wrk.format(nil, nil, nil, before .. thread .. "-" .. number .. after)
    end
  end
end

local script_done = done

function done(summary, latency, requests)
  if script_done then script_done(summary, latency, requests) end
  local out = assert(io.open(os.getenv("KIT_REPORT"), "w"))
  out:write(string.format(
    '{"duration_us":%.0f,"requests":%.0f,"bytes":%.0f,',
    summary.duration, summary.requests, summary.bytes))
  out:write(string.format(
    '"errors":{"connect":%d,"read":%d,"write":%d,"status":%d,"timeout":%d},',
    summary.errors.connect, summary.errors.read, summary.errors.write, summary.errors.status,
    summary.errors.timeout))
  out:write('"body":')
  if wrk.body then
    out:write('"', (wrk.body:gsub('[%c"\\]', function(c) return string.format("\\u%04x", c:byte()) end)), '"')
  else
    out:write("null")
  end
  out:write(',"latency_us":[')
  for index = 1, #latency do
    local value, count = latency(index)
    out:write(index > 1 and "," or "", string.format("[%.0f,%.0f]", value, count))
  end
  out:write("]}\n")
  out:close()
end
