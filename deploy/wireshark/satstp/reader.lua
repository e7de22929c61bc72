-- Reads a packet from its front. What does not fit ends the reading with a failure, which becomes an
-- expert item; a mistake of the dissector's own stays an error.
local names = ...
if not names then return end  -- Wireshark runs every file of its plugin folder
local F, E = names.F, names.E

local Failure = {}
local function malformed(text) error(setmetatable({ expert = E.malformed, text = text }, Failure), 0) end

local Reader = {}
Reader.__index = Reader
-- `cut`: of bytes behind the limit only the capture knows nothing.
local function reader(tvb, at, limit, cut)
  return setmetatable({ tvb = tvb, at = at, limit = limit, cut = cut }, Reader)
end
function Reader:left() return self.limit - self.at end
function Reader:take(size)
  if size > self:left() then
    if self.cut then error(setmetatable({ expert = E.cut_short }, Failure), 0) end
    malformed("Malformed: " .. size .. " bytes are wanted where " .. self:left() .. " are left")
  end
  local range = self.tvb:range(self.at, size)
  self.at = self.at + size
  return range
end
local VALUE = UInt64(0xffffffff, 0x3fffffff)
function Reader:varint()
  local first = self:take(1):uint()
  self.at = self.at - 1
  local size = 2 ^ math.floor(first / 64)
  local range = self:take(math.floor(size))
  if size == 8 then return range:uint64():band(VALUE), range end
  return UInt64(range:uint() % (64 * 256 ^ (size - 1))), range
end
-- Adds what comes next to the tree; its value.
function Reader:add(tree, name, size)
  local range = self:take(size)
  tree:add(F[name], range)
  return size <= 4 and range:uint() or range:uint64(), range
end
function Reader:add_varint(tree, name)
  local value, range = self:varint()
  return value, tree:add(F[name], range, value)
end
function Reader:add_rest(tree, name)
  if self:left() > 0 then tree:add(F[name], self:take(self:left())) end
end

local function generated(tree, name, range, value)
  return tree:add(F[name], range, value):set_generated()
end
local ONE, ZERO = UInt64(1), UInt64(0)

return { new = reader, malformed = malformed, Failure = Failure, VALUE = VALUE, ONE = ONE, ZERO = ZERO,
         generated = generated }
