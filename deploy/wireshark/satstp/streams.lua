-- OPEN's metadata (relay/gateway/frames/open_metadata.h, docs/stp-wire.md section 15), and the headers of what
-- streams carry (pep/compress/block_codec.h).
local names, crc32c, read = ...
if not names then return end  -- Wireshark runs every file of its plugin folder
local F, E, KINDS, BLOCKS = names.F, names.E, names.KINDS, names.BLOCKS
local ADMISSIONS, band = names.ADMISSIONS, crc32c.band
local reader, malformed, Failure = read.new, read.malformed, read.Failure

local function is_multicast(address)
  local first = address:range(0, 1):uint()
  return address:len() == 4 and first >= 0xe0 and first < 0xf0 or address:len() == 16 and first == 0xff
end

local function flow_metadata(tree, r)
  local version = r:add(tree, "open.ip_version", 1)
  if version ~= 4 and version ~= 6 then malformed("IP version " .. version) end
  local tags = r:add(tree, "open.tag_count", 1)
  if tags > 2 then malformed(tags .. " VLAN tags") end
  local range = r:take(1)
  local options = range:uint()
  local bit_tree = tree:add(F["open.options"], range)
  for _, name in ipairs({ "mss", "window_scale", "sack", "timestamps", "class", "modes", "ecn" }) do
    bit_tree:add(F["open.has_" .. name], range)
  end
  tree:add(F["open.ethernet.destination"], r:take(6))
  tree:add(F["open.ethernet.source"], r:take(6))
  for _ = 1, tags do
    r:add(tree, "open.vlan.tpid", 2)
    r:add(tree, "open.vlan.id", 2)
  end
  local ends = {}
  for at, host in ipairs({ "client", "server" }) do
    local address = r:take(version == 4 and 4 or 16)
    tree:add(F["open." .. host .. (version == 6 and "6" or "")], address)
    ends[at] = version == 4 and tostring(address:ipv4()) or "[" .. tostring(address:ipv6()) .. "]"
    if is_multicast(address) then malformed("a multicast address") end
  end
  for at, host in ipairs({ "client", "server" }) do
    ends[at] = ends[at] .. ":" .. r:add(tree, "open." .. host .. "_port", 2)
  end
  local mss, scale = r:take(2), r:take(1)
  if band(options, 1) ~= 0 then tree:add(F["open.mss"], mss) end
  if band(options, 2) ~= 0 then tree:add(F["open.window_scale"], scale) end
  r:add(tree, "open.traffic_class", 1)
  r:add(tree, "open.hop_limit", 1)
  if band(options, 32) ~= 0 then
    local modes = r:take(1)
    local mode_tree = tree:add(F["open.modes"], modes)
    for _, name in ipairs({ "remote_handshake", "end_to_end_ack", "confirmed_close", "mirrored_window",
        "prompt_delivery" }) do
      mode_tree:add(F["open.modes." .. name], modes)
    end
    if modes:uint() % 32 == 0 then malformed("no modes") end
  end
  if band(options, 16) ~= 0 then
    local size = r:take(1):uint()
    if size == 0 or size > 32 then malformed("a class name of " .. size .. " octets") end
    local name = r:take(size)
    tree:add(F["open.class"], name)
    if name:string():find("[^%w_-]") then malformed("no name of a class is like this") end
  end
  if r:left() > 0 then malformed(r:left() .. " octets left over") end
  return ends[1] .. " > " .. ends[2]
end

local function metadata(tree, r)
  local range = r:take(1)
  tree:add(F["open.kind"], range)
  local kind = KINDS[range:uint()]
  if kind == "flow" then return flow_metadata(tree, r), kind end
  if kind == "admission" then
    local sequence = r:add(tree, "admission.sequence", 4)
    local state = r:add(tree, "admission.state", 1)
    if sequence == 0 or not ADMISSIONS[state] then malformed("no admission is like this") end
    return "admission " .. ADMISSIONS[state], kind
  elseif kind == "doubt" then
    return "doubt about stream " .. tostring(r:add(tree, "doubt.stream", 8)), kind
  elseif kind == "flows" then
    return "list of flows", kind
  elseif kind == "sources" then
    tree:add(F["sources.more"], r:take(1))
    return "accepted sources", kind
  elseif kind == "address" then
    local version = r:add(tree, "address.version", 1)
    if version ~= 4 and version ~= 6 then malformed("no version of IP") end
    local range = r:take(version == 4 and 4 or 16)
    tree:add(F["address.host" .. (version == 6 and "6" or "")], range)
    for _ = 1, 2 do r:add(tree, "address.vlan", 2) end
    return "question about " .. tostring(version == 4 and range:ipv4() or range:ipv6()), kind
  elseif kind == "lan_wish" then
    return "wish for LAN reports", kind
  elseif kind == "lan_reports" then
    return "LAN reports", kind
  elseif kind == "evidence" then
    local version = r:add(tree, "evidence.version", 1)
    if version ~= 4 and version ~= 6 then malformed("no version of IP") end
    local ends = {}
    for at, host in ipairs({ "near", "far" }) do
      local address = r:take(version == 4 and 4 or 16)
      tree:add(F["evidence." .. host .. (version == 6 and "6" or "")], address)
      ends[at] = version == 4 and tostring(address:ipv4()) or "[" .. tostring(address:ipv6()) .. "]"
    end
    for at, host in ipairs({ "near", "far" }) do
      ends[at] = ends[at] .. ":" .. r:add(tree, "evidence." .. host .. "_port", 2)
    end
    r:add(tree, "evidence.sends", 4)
    r:add(tree, "evidence.expects", 4)
    return "evidence of " .. ends[1] .. " > " .. ends[2], kind
  elseif kind == "destination" then
    local version = r:add(tree, "destination.version", 1)
    if version ~= 4 and version ~= 6 then malformed("no version of IP") end
    r:add(tree, "destination.stream", 8)
    local ends = {}
    for at, host in ipairs({ "near", "far" }) do
      local address = r:take(version == 4 and 4 or 16)
      tree:add(F["destination." .. host .. (version == 6 and "6" or "")], address)
      ends[at] = version == 4 and tostring(address:ipv4()) or "[" .. tostring(address:ipv6()) .. "]"
    end
    local tags = r:add(tree, "destination.tag_count", 1)
    if tags > 2 then malformed("too many tags") end
    for _ = 1, tags do
      r:add(tree, "destination.vlan.tpid", 2)
      r:add(tree, "destination.vlan.id", 2)
    end
    local mac = r:take(6)
    tree:add(F["destination.mac"], mac)
    return "destination of " .. ends[1] .. " > " .. ends[2] .. " is " .. tostring(mac:ether()), kind
  elseif kind == "arrival" then
    local version = r:add(tree, "arrival.version", 1)
    if version ~= 4 and version ~= 6 then malformed("no version of IP") end
    local address = r:take(version == 4 and 4 or 16)
    tree:add(F[version == 4 and "arrival.host" or "arrival.host6"], address)
    local host = version == 4 and tostring(address:ipv4()) or "[" .. tostring(address:ipv6()) .. "]"
    local tags = r:add(tree, "arrival.tag_count", 1)
    if tags > 2 then malformed("too many tags") end
    for _ = 1, tags do
      r:add(tree, "arrival.vlan.tpid", 2)
      r:add(tree, "arrival.vlan.id", 2)
    end
    local mac = r:take(6)
    tree:add(F["arrival.mac"], mac)
    return "arrival of " .. host .. " with " .. tostring(mac:ether()), kind
  elseif kind == "dictionaries" then
    local sequence, count = r:add(tree, "dictionaries.sequence", 4), r:add(tree, "dictionaries.count", 1)
    if sequence == 0 or count > 15 then malformed("no list of dictionaries is like this") end
    for _ = 1, count do
      r:add(tree, "dictionaries.number", 1)
      r:add(tree, "dictionaries.fingerprint", 8)
    end
    return count .. " dictionaries", kind
  end
  malformed(string.format("kind 0x%02x", range:uint()))
end

-- A relay answers metadata that it does not understand; the packet is sound. What they say, and their kind.
local function decode_metadata(tree, r)
  local sound, text, kind = pcall(metadata, tree, r)
  if sound then return text, kind end
  if getmetatable(text) ~= Failure then error(text, 0) end
  tree:add_proto_expert_info(E["open.undecoded"], "Metadata not understood: " .. (text.text or "cut short"))
  return "metadata not understood"
end

-- The headers in a stream stand one behind the other. They are followed from offset 0 as long as the
-- capture shows the stream in order.
local UNITS = {
  flow = { header = 4, body = function(text)
    local kind, length = text:byte(1), (text:byte(2) * 256 + text:byte(3)) * 256 + text:byte(4)
    local sound = BLOCKS[kind] and length > 0 and length <= 65536 and (kind ~= 2 or length == 2)
                  and (kind ~= 3 or length > 1) and (kind ~= 4 or length == 4) and (kind ~= 5 or length == 1)
    return sound and length
  end },
  flows = { header = 2, body = function(text) return text:byte(2) end },
}
local function find_units(state, unit, offset, tvb, at, size)
  local found = {}
  while state.next do
    local where = state.next + #state.partial - offset
    if where < 0 or where >= size then break end
    local n = math.min(unit.header - #state.partial, size - where)
    state.partial = state.partial .. tvb:raw(at + where, n)
    if #state.partial == unit.header then
      local body = unit.body(state.partial)
      found[#found + 1] = { at = at + where, size = n, header = state.partial, body = body }
      state.next = body and state.next + unit.header + body
      state.partial = ""
    end
  end
  return found
end

local function add_block(tree, tvb, found, limit)
  local kind = found.header:byte(1)
  local range = tvb:range(found.at, found.size)
  local item = tree:add(F.block, range)
  item:add(F["block.kind"], range, kind)
  if not found.body then
    item:add_proto_expert_info(E["block.undecoded"])
    return
  end
  item:set_text("Block: " .. BLOCKS[kind] .. ", " .. found.body .. " bytes")
  item:add(F["block.length"], range, found.body)
  local body = found.at + found.size
  if kind == 2 and body + 2 <= limit then
    item:add(F["block.traffic_class"], tvb:range(body, 1))
    item:add(F["block.hop_limit"], tvb:range(body + 1, 1))
  elseif kind == 3 and body + 1 <= limit then
    item:add(F["block.dictionary"], tvb:range(body, 1))
  elseif kind == 4 and body + 4 <= limit then
    item:add(F["block.urgent"], tvb:range(body, 4))
  end
end

local function add_entry(tree, tvb, found, limit)
  local range = tvb:range(found.at, found.size)
  local item = tree:add(F.entry, range)
  item:add(F["entry.client_at_receiver"], range, found.header:byte(1) % 2 == 1)
  item:add(F["entry.length"], range, found.body)
  local body = found.at + found.size
  if body + found.body <= limit then
    item:append_text(": " .. decode_metadata(item, reader(tvb, body, body + found.body)))
  end
end

local function add_units(tree, tvb, c, stream, offset, at, size)
  local cache = c.units_of[c.number]
  if not cache then
    cache = {}
    c.units_of[c.number] = cache
  end
  if not cache[at] then
    local kind = c.lane.kinds[tostring(stream)]
    if not UNITS[kind] or not c.is_trusted or offset >= UInt64(0, 0x200000) then return end
    local key = c.from .. " " .. tostring(stream)
    local state = c.lane.units[key] or { next = 0, partial = "" }
    c.lane.units[key] = state
    cache[at] = { add = kind == "flow" and add_block or add_entry,
                  units = find_units(state, UNITS[kind], offset:tonumber(), tvb, at, size) }
  end
  for _, found in ipairs(cache[at].units) do cache[at].add(tree, tvb, found, at + size) end
end

return { decode_metadata = decode_metadata, add_units = add_units }
