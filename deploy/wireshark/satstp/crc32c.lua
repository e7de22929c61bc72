-- CRC32C (RFC 9260 appendix A), forwards and backwards.

-- Lua 5.2 has bit32, Wireshark brings bit, and Lua 5.3 and later have operators.
local bits = rawget(_G, "bit32") or rawget(_G, "bit") or load([[return {
  band = function(a, b) return a & b end, bxor = function(a, b) return a ~ b end,
  lshift = function(a, n) return a << n & 0xffffffff end, rshift = function(a, n) return a >> n end }]])()
local band, bxor, lshift, rshift = bits.band, bits.bxor, bits.lshift, bits.rshift
local function unsigned(value) return value % 0x100000000 end

local START = 0xffffffff
local step, by_top = {}, {}
for byte = 0, 255 do
  local value = byte
  for _ = 1, 8 do
    local odd = value % 2 == 1
    value = unsigned(rshift(value, 1))
    if odd then value = unsigned(bxor(value, 0x82f63b78)) end
  end
  step[byte] = value
  by_top[unsigned(rshift(value, 24))] = byte  -- each of the 256 occurs once
end

local function forwards(register, text)
  for at = 1, #text do
    register = bxor(step[band(bxor(register, text:byte(at)), 0xff)], rshift(register, 8))
  end
  return unsigned(register)
end

-- The register from which `text` leads to `register`. So a packet tells what was before its first
-- byte, the sum over both boot epochs, and whether that agrees with the session tag.
local function backwards(register, text)
  for at = #text, 1, -1 do
    local index = by_top[unsigned(rshift(register, 24))]
    register = bxor(lshift(bxor(register, step[index]), 8), bxor(index, text:byte(at)))
  end
  return unsigned(register)
end

local function tag_of(register) return unsigned(bxor(register, rshift(register, 16))) % 0x10000 end

return { START = START, forwards = forwards, backwards = backwards, tag_of = tag_of, unsigned = unsigned, band = band,
         bxor = bxor }
