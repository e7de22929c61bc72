// CRC32C (RFC 9260 appendix A). The calculation can be split:
// crc32c_finish(crc32c_update(kCrc32cStart, bytes)) is the checksum of `bytes`, and further bytes
// may be added before crc32c_finish().
#pragma once

#include <cstdint>

#include "pep/base/bytes.h"

namespace satrelay::stp {

inline constexpr std::uint32_t kCrc32cStart = 0xffff'ffffU;
std::uint32_t crc32c_update(std::uint32_t state, ConstBytes bytes);
constexpr std::uint32_t crc32c_finish(std::uint32_t state) { return ~state; }

}  // namespace satrelay::stp
