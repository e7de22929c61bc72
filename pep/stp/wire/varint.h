// Variable-length integers (RFC 9000 section 16). The two top bits of the first byte give the
// length: 1, 2, 4 or 8 bytes. The other bits are the value, big-endian, up to 2^62 - 1.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/bytes.h"

namespace satrelay::stp {

inline constexpr std::uint64_t kMaxVarint = (std::uint64_t{1} << 62) - 1;
inline constexpr std::size_t kMaxVarintSize = 8;

// Makes the reader fail as if the packet had ended early. Parsers call it for impossible values.
inline void fail(ByteReader& in) { in.bytes(in.remaining() + 1); }

constexpr std::size_t varint_size(std::uint64_t value) {
  if (value < (1U << 6)) return 1;
  if (value < (1U << 14)) return 2;
  if (value < (1U << 30)) return 4;
  return 8;
}

// Writes the integer to `out`, which must have enough space. Returns the position after the
// integer.
inline std::byte* store_varint(std::byte* out, std::uint64_t value) {
  const std::size_t size = varint_size(value);
  switch (size) {
    case 1:
      store_u8(out, static_cast<std::uint8_t>(value));
      break;
    case 2:
      store_u16(out, static_cast<std::uint16_t>(value | 0x4000U));
      break;
    case 4:
      store_u32(out, static_cast<std::uint32_t>(value | 0x8000'0000U));
      break;
    default:
      store_u64(out, (value & kMaxVarint) | (std::uint64_t{3} << 62));
  }
  return out + size;
}

inline void write_varint(ByteWriter& out, std::uint64_t value) {
  const MutableBytes room = out.reserve(varint_size(value));
  if (!room.empty()) store_varint(room.data(), value);
}

inline std::uint64_t read_varint(ByteReader& in) {
  if (in.remaining() == 0) return in.u8();  // makes the reader fail
  switch (load_u8(in.rest().data()) >> 6) {
    case 0:
      return in.u8();
    case 1:
      return in.u16() & 0x3fffU;
    case 2:
      return in.u32() & 0x3fff'ffffU;
    default:
      return in.u64() & kMaxVarint;
  }
}

}  // namespace satrelay::stp
