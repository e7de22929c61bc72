-- The frames of version 1 (docs/stp-wire.md section 5): each adds its fields behind the type, and answers
-- with a few words for the info column.
local names, read, streams = ...
if not names then return end  -- Wireshark runs every file of its plugin folder
local F, E, CODES, REASONS = names.F, names.E, names.CODES, names.REASONS
local reader, malformed, generated = read.new, read.malformed, read.generated
local VALUE, ONE, ZERO = read.VALUE, read.ONE, read.ZERO
local decode_metadata, add_units = streams.decode_metadata, streams.add_units

local frames = {}

frames[0x01] = function(r, tree)
  r:add_varint(tree, "ping.settled")
  return "PING"
end
frames[0x02] = function(r, tree) return "SETTLED below " .. tostring(r:add_varint(tree, "settled.number")) end
frames[0x04] = function(r, tree) return "LANE_CREDIT " .. tostring(r:add_varint(tree, "lane_credit.limit")) end
frames[0x05] = function(r, tree)
  local stream = r:add_varint(tree, "stream.id")
  return "STREAM_CREDIT stream " .. tostring(stream) .. " " .. tostring(r:add_varint(tree, "stream_credit.limit"))
end
frames[0x06] = function(r, tree, c)
  local stream = r:add_varint(tree, "stream.id")
  local length, range = r:varint()
  if length > UInt64(256) then malformed("Malformed: metadata of " .. tostring(length) .. " bytes") end
  local size = math.floor(length:tonumber())
  tree:add(F["open.length"], range, size)
  local text, kind = "no metadata", nil
  if size > 0 then
    local at = r.at
    local item = tree:add(F["open.metadata"], r:take(size))
    text, kind = decode_metadata(item, reader(r.tvb, at, at + size))
  else
    tree:add_proto_expert_info(E["open.undecoded"], "No metadata")
  end
  if c.is_trusted then c.lane.kinds[tostring(stream)] = kind end
  return "OPEN stream " .. tostring(stream) .. " " .. text
end
local ICMP_REFUSAL = 14
frames[0x07] = function(r, tree)
  local stream = r:add_varint(tree, "stream.id")
  local reason = r:add(tree, "reset.reason", 1)
  r:add_varint(tree, "reset.final_size")
  if reason == ICMP_REFUSAL then
    r:add(tree, "reset.icmp_type", 1)
    r:add(tree, "reset.icmp_code", 1)
    local size = r:add(tree, "reset.icmp_sender_size", 1)
    if size ~= 0 and size ~= 4 and size ~= 16 then malformed("Malformed: an address of " .. size .. " bytes") end
    if size > 0 then tree:add(F["reset.icmp_sender" .. (size == 16 and "6" or "")], r:take(size)) end
  end
  return "RESET stream " .. tostring(stream) .. " " .. (REASONS[reason] or "reason " .. reason)
end
frames[0x08] = function(r, tree)
  local reason = r:add(tree, "close.reason", 1)
  return "CLOSE " .. (REASONS[reason] or "reason " .. reason)
end

local function data(r, tree, c, kind, type_range)
  tree:add(F["data.has_length"], type_range)
  tree:add(F["data.fin"], type_range)
  local stream = r:add_varint(tree, "stream.id")
  local offset = r:add_varint(tree, "data.offset")
  local fin = kind % 2 == 1
  local size
  if kind >= 0x12 then
    size = r:add(tree, "data.length", 2)
  else
    size = r:left()
    generated(tree, "data.length", type_range, size)
  end
  if size == 0 and not fin then malformed("Malformed: neither bytes nor an end") end
  if offset + UInt64(size) > VALUE then malformed("Malformed: ends above 2^62 - 1") end
  if size > 0 then
    local at = r.at
    tree:add(F["data.bytes"], r:take(size))
    add_units(tree, r.tvb, c, stream, offset, at, size)
  end
  return "DATA stream " .. tostring(stream) .. " @" .. tostring(offset) .. " len " .. size ..
         (fin and " FIN" or "")
end
for kind = 0x10, 0x13 do
  frames[kind] = function(r, tree, c, range) return data(r, tree, c, kind, range) end
end

-- Runs of packets that have arrived or have not; like ones next to each other become one.
local Runs = {}
Runs.__index = Runs
function Runs:flush()
  if not self.range then return end
  local last = self.first + self.count - ONE
  local word = self.received and "Received " or "Missing "
  local item = self.tree:add(F["feedback.range"], self.range)
  item:set_text(word .. tostring(self.first) .. " to " .. tostring(last) .. " (" .. tostring(self.count) .. ")")
  generated(item, "feedback.range.first", self.range, self.first)
  generated(item, "feedback.range.last", self.range, last)
  generated(item, "feedback.range.count", self.range, self.count)
  generated(item, "feedback.range.received", self.range, self.received)
  if not self.received then self.missing = self.missing + self.count end
  self.first, self.range = self.first + self.count, nil
end
function Runs:add(received, count, range)
  if count == ZERO then return end
  if self.range and self.received == received then
    self.count = self.count + count
  else
    self:flush()
    self.received, self.count, self.range = received, count, range
  end
end

local function pairs_of(r, tree, runs, count, room)
  for at = 1, count do
    local received, range = r:varint()
    local missing, second = r:varint()
    local sound = (received > ZERO or at == 1) and missing > ZERO and received <= room and
                  missing <= room - received
    if not sound then malformed("Malformed: pair " .. at .. " does not fit") end
    runs:add(true, received, range)
    runs:add(false, missing, second)
    room = room - received - missing
  end
  return room
end

local function bitmap_of(r, tree, runs, room)
  local length = r:add_varint(tree, "feedback.bits")
  if length == ZERO or length > room or length > UInt64(r:left() * 8) then
    if r.cut and length <= room then r:take(r:left() + 1) end
    malformed("Malformed: a bitmap of " .. tostring(length) .. " bits")
  end
  local size = math.floor(length:tonumber())
  local range = r:take(math.floor((size + 7) / 8))
  tree:add(F["feedback.bitmap"], range)
  local text = range:raw()
  local since, received = 0, nil
  for at = 0, size do
    local bit
    if at < size then
      bit = math.floor(text:byte(math.floor(at / 8) + 1) / 2 ^ (at % 8)) % 2 == 1
    end
    if bit ~= received then
      if at > since then runs:add(received, UInt64(at - since), range) end
      since, received = at, bit
    end
  end
  return room - length
end

frames[0x03] = function(r, tree)
  local highest = r:add_varint(tree, "feedback.highest")
  r:add_varint(tree, "feedback.delay")
  r:add(tree, "feedback.arrived", 4)
  r:add_varint(tree, "feedback.interval")
  local top = highest + ONE
  local floor, floor_range = r:varint()
  local begin, begin_range = r:varint()
  for _, name in ipairs({ "bytes", "stored", "ce", "repaired", "late" }) do r:add_varint(tree, "feedback." .. name) end
  local told = r:add_varint(tree, "feedback.told")
  local count_range = r:take(2)
  local count = count_range:uint()
  local count_item = tree:add(F["feedback.count"], count_range)
  if count == 0xffff then count_item:append_text(" (a bitmap follows)") end
  if floor > top or begin > floor or told > top - begin then malformed("Malformed: its numbers do not fit") end
  tree:add(F["feedback.floor"], floor_range, top - floor)
  tree:add(F["feedback.begin"], begin_range, top - begin)
  generated(tree, "feedback.first", begin_range, top - begin - told)
  local runs = setmetatable({ tree = tree, first = top - begin, missing = ZERO }, Runs)
  local room
  if count == 0xffff then room = bitmap_of(r, tree, runs, begin) else room = pairs_of(r, tree, runs, count, begin) end
  local tail, tail_range = r:varint()
  tree:add(F["feedback.tail"], tail_range, tail)
  if tail > room then malformed("Malformed: it reaches beyond the highest packet") end
  runs:add(true, tail, tail_range)
  runs:flush()
  generated(tree, "feedback.end", tail_range, top - room + tail)
  generated(tree, "feedback.missing", tail_range, runs.missing)
  return "FEEDBACK up to " .. tostring(highest) ..
         (runs.missing > ZERO and " missing " .. tostring(runs.missing) or "")
end

-- Extensions, behind their length.
local extensions = {}
local function code_of(r, tree, field)
  local code = r:add(tree, field, 1)
  if not CODES[code] then malformed("Malformed: no code " .. code) end
  return CODES[code]
end

extensions[0x47] = function(r, tree)
  local code = code_of(r, tree, "coded.code")
  local index = r:add(tree, "coded.index", 2)
  if r:left() > 0 then malformed("Malformed: more behind the index") end
  return string.format("CODED %s %d", code, index)
end
extensions[0x48] = function(r, tree)
  local code = code_of(r, tree, "repair.code")
  local first, range = r:add(tree, "repair.first", 2)
  local count = r:add(tree, "repair.count", 2)
  local row = r:add(tree, "repair.row", 2)
  if count == 0 or count > 3072 or r:left() < 7 then malformed("Malformed: no repair is like this") end
  local last = (first + count - 1) % 0x10000
  generated(tree, "repair.last", range, last)
  r:add_rest(tree, "repair.symbol")
  return string.format("REPAIR %s row %d of %d to %d (%d)", code, row, first, last, count)
end
extensions[0x43] = function(r, tree)
  local sequence = r:add_varint(tree, "rate.sequence")
  local capacity, item = r:add_varint(tree, "rate.capacity")
  if sequence == ZERO then malformed("Malformed: sequence 0") end
  r:add_rest(tree, "undecoded")
  local mega = capacity:tonumber() / 1000000
  item:append_text(capacity == ZERO and " (as configured)" or string.format(" (%g Mbit/s)", mega))
  return "RATE " .. (capacity == ZERO and "as configured" or string.format("%g Mbit/s", mega))
end
extensions[0x44] = function(r, tree)
  local stream = r:add_varint(tree, "stream.id")
  local sequence = r:add_varint(tree, "confirm.sequence")
  local flags, range = r:add(tree, "confirm.answered", 1)
  tree:add(F["confirm.ended"], range)
  tree:add(F["confirm.silent"], range)
  local delivered = r:add_varint(tree, "confirm.delivered")
  r:add_varint(tree, "confirm.window")
  if r:left() > 0 then r:add_varint(tree, "confirm.keep_alives") end
  local urgent, word
  if r:left() > 0 then
    r:add_varint(tree, "confirm.urgent.after")
    urgent = r:add_varint(tree, "confirm.urgent.mark")
  end
  if r:left() > 0 then
    r:add_varint(tree, "confirm.question")
    word = flags % 8 >= 4 and " silent" or " alive"
  end
  if sequence == ZERO then malformed("Malformed: sequence 0") end
  r:add_rest(tree, "undecoded")
  return "CONFIRM stream " .. tostring(stream) .. (flags % 2 == 1 and " answered" or "") ..
         (flags % 4 >= 2 and " ended" or "") .. " delivered " .. tostring(delivered) ..
         (urgent and urgent ~= ZERO and " urgent " .. tostring(urgent) or "") .. (word or "")
end
extensions[0x45] = function(r, tree)
  local missed = r:add_varint(tree, "reception.missed")
  local waited = r:add_varint(tree, "reception.waited")
  r:add_rest(tree, "undecoded")
  return "RECEPTION missed " .. tostring(missed) .. " waited " .. tostring(waited)
end
extensions[0x46] = function(r, tree)
  local sequence = r:add_varint(tree, "start_credit.sequence")
  local limit = r:add_varint(tree, "start_credit.limit")
  if sequence == ZERO then malformed("Malformed: sequence 0") end
  r:add_rest(tree, "undecoded")
  return "START_CREDIT " .. tostring(limit)
end

-- Tells the lane the boot epoch, as its eight bytes stand there.
local function hello(r, tree, c)
  local length = r:add(tree, "frame.length", 2)
  local at = r.at
  r:take(length)
  local rest = r
  r = reader(r.tvb, at, at + length)
  local minimum = r:add(tree, "hello.minimum_version", 1)
  local maximum = r:add(tree, "hello.maximum_version", 1)
  local flags, range = r:add(tree, "hello.flags", 1)
  tree:add(F["hello.opens_even"], range)
  tree:add(F["hello.answer_wanted"], range)
  tree:add(F["hello.encrypts"], range)
  local encrypts = flags % 8 >= 4
  local lane_count = r:add(tree, "hello.lane_count", 1)
  range = r:take(4)
  local capabilities = tree:add(F["hello.capabilities"], range)
  capabilities:add(F["hello.capabilities.repair"], range)
  capabilities:add(F["hello.capabilities.reception"], range)
  capabilities:add(F["hello.capabilities.lan_reports"], range)
  capabilities:add(F["hello.capabilities.evidence"], range)
  capabilities:add(F["hello.capabilities.other_vlan"], range)
  capabilities:add(F["hello.capabilities.urgent"], range)
  capabilities:add(F["hello.capabilities.destinations"], range)
  capabilities:add(F["hello.capabilities.accepted_sources"], range)
  capabilities:add(F["hello.capabilities.reset_marks"], range)
  capabilities:add(F["hello.capabilities.host_words"], range)
  capabilities:add(F["hello.capabilities.icmp"], range)
  capabilities:add(F["hello.capabilities.arrivals"], range)
  capabilities:add(F["hello.capabilities.between"], range)
  local epoch_range = r:take(8)
  local epoch = epoch_range:uint64()
  local epoch_item = tree:add(F["hello.epoch"], epoch_range)
  local seconds = math.floor(epoch:tonumber() / 1e9)
  if seconds > 1e9 and seconds < 4e9 then  -- a clock
    epoch_item:append_text(os.date("! (%Y-%m-%d %H:%M:%S UTC)", seconds))
  end
  local peer_epoch = r:add(tree, "hello.peer_epoch", 8)
  local echo = r:add(tree, "hello.echo", 4)
  r:add(tree, "hello.datagram_size", 2)
  r:add(tree, "hello.zero", 2)
  local lane_credit = r:add(tree, "hello.lane_credit", 8)
  local stream_credit = r:add(tree, "hello.stream_credit", 8)
  local keys = ""
  for _, message in ipairs(encrypts and { "offer", "acceptance" } or {}) do
    local size = r:add(tree, "hello." .. message .. ".length", 2)
    local bytes = r:take(size)
    if size > 0 then
      tree:add(F["hello." .. message], bytes)
      keys = keys .. (message == "offer" and " offers keys" or " accepts keys")
    end
  end
  -- At the end of all; an older build has none.
  local has_mac = encrypts and r:left() >= 32
  if has_mac then tree:add(F["hello.accepted"], r:take(16)) end
  if has_mac and r:left() > 16 then tree:add(F["undecoded"], r:take(r:left() - 16)) end
  if has_mac then tree:add(F["hello.mac"], r:take(16)) end
  r:add_rest(tree, "undecoded")
  if epoch == ZERO or lane_count == 0 or minimum > maximum or lane_credit > VALUE or stream_credit > VALUE then
    malformed("Malformed: its values cannot be")
  end
  if c.is_trusted then
    c.learn_epoch(c.lane, c.from, epoch_range:raw())
    c.lane.encrypts = encrypts
  end
  rest:add_rest(tree, "undecoded")
  return "HELLO " .. c.hello_number .. " epoch " .. tostring(epoch) .. " peer " ..
         (peer_epoch == ZERO and "unknown" or tostring(peer_epoch)) .. (echo > 0 and " answers " .. echo or "") ..
         (flags % 4 >= 2 and " wants an answer" or "") .. keys
end

return { plain = frames, extensions = extensions, hello = hello }
