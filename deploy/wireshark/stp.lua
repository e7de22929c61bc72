-- STP, the protocol between satrelay's gateways (docs/stp-wire.md), for Wireshark and tshark 4.0 or later.
-- Its filter names begin with "satstp", as Wireshark's "stp" is the Spanning Tree Protocol.
-- docs/guide.md says how to install it: this file and the folder satstp beside it.

local stp = Proto("satstp", "Satellite Transport Protocol (satrelay)")

stp.prefs.ports = Pref.range("UDP ports", "7878-7893", "Packets of lane n go to the n-th port after the first", 65535)
stp.prefs.verify_crc = Pref.bool("Verify the CRC32C", true, "Takes longer; a bad one is an expert item")
stp.prefs.encrypted = Pref.bool("Packets are encrypted", false, "Where the capture has no HELLO, which would tell")

-- The other files stand in a folder beside this one, wherever that is.
local folder = debug.getinfo(1, "S").source:match("^@?(.*[/\\])") or ""
local function part(name, ...) return assert(loadfile(folder .. "satstp/" .. name .. ".lua"))(...) end
local names = part("names", true)
local crc32c = part("crc32c")
local read = part("reader", names)
local frames = part("frames", names, read, part("streams", names, crc32c, read))
local F, E, FRAME_NAMES, CRC_STATUS = names.F, names.E, names.FRAMES, names.CRC_STATUS
local START, forwards, backwards, tag_of = crc32c.START, crc32c.forwards, crc32c.backwards, crc32c.tag_of
local unsigned, bxor = crc32c.unsigned, crc32c.bxor
local malformed, Failure, generated = read.malformed, read.Failure, read.generated
local BAD, GOOD, UNVERIFIED = 0, 1, 2
stp.fields = names.fields
stp.experts = names.experts

-- What earlier packets told ------------------------------------------------------------------------

local lanes = {}     -- by addresses, ports and lane
local units_of = {}  -- block headers found in a packet, by its number in the capture and their place
function stp.init() lanes, units_of = {}, {} end

-- Both gateways send from one port to another, the same two (docs/stp.md, section 17); satperf's ends answer to
-- where a packet came from. So a lane has two addresses and two ports, whichever belongs to which.
local function lane_of(pinfo, lane)
  local from, to = tostring(pinfo.src), tostring(pinfo.dst)
  local ports = { pinfo.src_port, pinfo.dst_port }
  if from == to then from, to = from .. " " .. ports[1], to .. " " .. ports[2] end
  local ends = { from, to }
  table.sort(ports)
  table.sort(ends)
  local key = table.concat(ends, " ") .. " " .. table.concat(ports, " ") .. " " .. lane
  local known = lanes[key]
  if not known then
    known = { epochs = { [from] = {}, [to] = {} }, starts = { [from] = {}, [to] = {} }, sums = {},
              kinds = {}, units = {} }
    lanes[key] = known
  end
  return known, from, to
end

-- The newest sum that a sender's packets may start from, and whether `start` is any of them.
local function known_starts(lane, from, to, start)
  local newest, is_known
  for _, own in ipairs(lane.epochs[from]) do
    for _, peer in ipairs(lane.epochs[to]) do
      newest = lane.sums[own .. peer] or forwards(START, own .. peer)
      lane.sums[own .. peer] = newest
      is_known = is_known or newest == start
    end
  end
  return newest, is_known or lane.starts[from][start]
end

local function learn_epoch(lane, from, epoch)
  local epochs = lane.epochs[from]
  for _, known in ipairs(epochs) do
    if known == epoch then return end
  end
  epochs[#epochs + 1] = epoch
  lane.kinds, lane.units = {}, {}  -- a new session counts its streams anew
end

-- Packets --------------------------------------------------------------------------------------------

local function add_frame(r, tree, c)
  local at = r.at
  local item = tree:add(F.frame, r.tvb:range(at, r:left()))
  local range = r:take(1)
  local kind = range:uint()
  local name = FRAME_NAMES[kind] or string.format("Frame 0x%02x", kind)
  item:set_text(name)
  item:add(F["frame.type"], range)
  local text
  if c.is_hello ~= (kind == 0x09) then
    malformed("Malformed: " .. name .. " in a " .. (c.is_hello and "HELLO" or "session") .. " packet")
  elseif kind == 0x09 then
    text = frames.hello(r, item, c)
  elseif kind == 0x00 then
    local other = r.tvb:raw(at, r.limit - at):find("[^\0]") or r.limit - at + 1
    r.at = at + other - 1
    generated(item, "padding.length", range, other - 1)
    c.padding = c.padding + other - 1
    text = "PADDING " .. other - 1
  elseif frames.plain[kind] then
    text = frames.plain[kind](r, item, c, range)
  elseif kind >= 0x40 then
    local length = r:add(item, "frame.length", 2)
    local start = r.at
    local known = frames.extensions[kind]
    if length > r:left() then r:take(length) end
    r.at = start + length
    local body = read.new(r.tvb, start, r.at)
    if known then
      text = known(body, item, c)
    else
      item:add_proto_expert_info(E.unknown_frame)
      body:add_rest(item, "undecoded")
      text = name
    end
  else
    malformed("Malformed: no frame has type " .. string.format("0x%02x", kind))
  end
  if kind ~= 0x00 and kind ~= 0x01 then c.others = c.others + 1 end
  item:set_len(r.at - at)
  item:set_text(text)
  c.words[#c.words + 1] = text
end

-- Verifies the trailer; the status. A session packet starts from a sum over the boot epochs, which HELLOs
-- tell; without these a sum that agrees with the session tag is taken.
local function check_crc(tvb, tree, c, size)
  local trailer = tvb:range(size - 4, 4)
  local item = tree:add(F.crc, trailer)
  local status, expected = UNVERIFIED, nil
  if stp.prefs.verify_crc then
    local text = tvb:raw(0, size - 4)
    local start = backwards(unsigned(bxor(trailer:uint(), START)), text)
    local newest, is_known
    if c.is_hello then
      newest, is_known = START, start == START
    else
      newest, is_known = known_starts(c.lane, c.from, c.to, start)
    end
    local is_of_newest = newest and tag_of(newest) == c.tag
    if not is_known and not c.is_hello and not is_of_newest and tag_of(start) == c.tag then
      is_known = true
      c.lane.starts[c.from][start] = true
      item:append_text(" (agrees with the session tag; the boot epochs are not in the capture)")
    end
    status = is_known and GOOD or BAD
    if not is_known and newest then expected = unsigned(bxor(forwards(newest, text), START)) end
  end
  generated(tree, "crc.status", trailer, status)
  item:append_text(" [" .. CRC_STATUS[status]:lower() .. "]")
  if status == BAD then
    local detail = ""
    if expected then
      generated(tree, "crc.expected", trailer, expected)
      detail = string.format(", expected 0x%08x", expected)
    end
    item:add_proto_expert_info(E["crc.bad"], "Bad CRC32C" .. detail)
    c.marks = c.marks .. "[bad CRC] "
  end
  return status
end

-- Failures of the packet become an expert item, anything else is a mistake of ours.
local function guarded(tree, c, call, ...)
  local sound, failure = pcall(call, ...)
  if sound then return end
  if getmetatable(failure) ~= Failure then error(failure, 0) end
  tree:add_proto_expert_info(failure.expert, failure.text or "Cut short by the capture")
  c.marks = c.marks .. (failure.expert == E.malformed and "[malformed] " or "[cut short] ")
end

-- A HELLO tells; where none was captured, the preference.
local function is_encrypted(lane)
  if lane.encrypts ~= nil then return lane.encrypts end
  return stp.prefs.encrypted
end

-- Without the keys, which no capture has, all that can be told is how much there is.
local function encrypted(r, tree, c, size)
  if size < 8 + 1 + 16 then malformed("Malformed: no room for a tag") end
  local frames = r:take(size - 8 - 16)
  tree:add(F.encrypted, frames)
  tree:add(F.tag, r:take(16))
  c.words[1] = frames:len() .. " encrypted bytes"
end

-- `satrelayctl capture --decrypted` calls its interface so: packets of a session have neither tag nor CRC.
local interface_name = Field.new("frame.interface_name")
local function is_decrypted()
  local name = interface_name()
  return name ~= nil and tostring(name.value):find("decrypted", 1, true) ~= nil
end

local function packet(tvb, tree, pinfo, c)
  local size, captured = tvb:reported_len(), tvb:len()
  if size < (is_decrypted() and 9 or 13) then malformed("Malformed: " .. size .. " bytes are less than a packet has") end
  local r = read.new(tvb, 0, captured, captured < size)
  local range = r:take(1)
  local first = range:uint()
  c.version, c.is_hello = math.floor(first / 16), first % 16 >= 8
  for _, name in ipairs({ "version", "type", "key_phase", "protected", "reserved" }) do tree:add(F[name], range) end
  local lane_number = r:add(tree, "lane", 1)
  c.lane, c.from, c.to = lane_of(pinfo, lane_number)
  c.tag = r:add(tree, "session_tag", 2)
  if c.is_hello then
    c.hello_number = r:add(tree, "hello_number", 4)
  else
    c.packet_number = r:add(tree, "packet_number", 4)
    c.words.number = "#" .. c.packet_number .. " "
  end
  local has_reserved = first % 2 == 1 or (c.is_hello and first % 4 >= 2)
  if c.version == 1 and has_reserved then malformed("Malformed: reserved bits") end
  if c.version ~= 1 then
    tree:add_proto_expert_info(E.other_version, "Of version " .. c.version)
    c.marks = "[version " .. c.version .. "] "
    if not c.is_hello then return end
  end
  local trailer = (is_decrypted() and not c.is_hello) and 0 or 4
  if trailer > 0 and not c.is_hello and is_encrypted(c.lane) then return encrypted(r, tree, c, size) end
  local status = UNVERIFIED
  if captured >= size and trailer > 0 then
    status = check_crc(tvb, tree, c, size)
  else
    generated(tree, "crc.status", tvb:range(0, 1), status)
  end
  c.is_trusted = status ~= BAD
  r.limit = math.min(captured, size - trailer)
  repeat add_frame(r, tree, c) until r:left() <= 0
  if r.cut then r:take(1) end
  if c.padding > 0 and c.others == 0 then
    generated(tree, "mtu_probe", tvb:range(0, 1), true)
    table.insert(c.words, 1, "MTU probe of " .. size .. " bytes")
  end
end

function stp.dissector(tvb, pinfo, root)
  pinfo.cols.protocol = "STP"
  local tree = root:add(stp, tvb:range(), "Satellite Transport Protocol")
  -- What the parts of a packet must know of each other: here its number in the capture, the words for the
  -- info column and what stands before them, and how much of it is padding.
  local c = { number = pinfo.number, units_of = units_of, learn_epoch = learn_epoch,
              words = {}, marks = "", padding = 0, others = 0 }
  guarded(tree, c, packet, tvb, tree, pinfo, c)
  local text = c.marks .. (c.words.number or "") .. table.concat(c.words, ", ")
  tree:append_text(": " .. text)
  pinfo.cols.info = text
  return tvb:len()
end

local ports
local function listen()
  local table_of_ports = DissectorTable.get("udp.port")
  if ports and ports ~= "" then table_of_ports:remove(ports, stp) end
  ports = tostring(stp.prefs.ports)
  if ports ~= "" then table_of_ports:add(ports, stp) end
end
listen()
stp.prefs_changed = listen
