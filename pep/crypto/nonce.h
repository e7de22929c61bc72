// The 96-bit nonces of AES-GCM. If a nonce is used twice with one key, GCM loses all security (NIST
// SP 800-38D section 8). So a nonce is constructed deterministically (section 8.2.1), from all
// values by which two packets under one key differ.
//
//    0                   1                   2                   3
//    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//   +-------------------------------+---------------+---------------+
//   |               0               |   Direction   |     Lane      |
//   +-------------------------------+---------------+---------------+
//   |                    Packet number (64 bits)                    |
//   |                                                               |
//   +---------------------------------------------------------------+
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "pep/base/bytes.h"

namespace satrelay::crypto {

inline constexpr std::size_t kNonceSize = 12;
using Nonce = std::array<std::byte, kNonceSize>;

// The end that sends the packet. Each direction has a key of its own. The nonce contains the
// direction as well, so that even a key that is used for both directions by mistake does not repeat
// a nonce.
enum class Direction : std::uint8_t { kFromEven = 0, kFromOdd = 1 };

// Identifies a packet under one key. The caller must never seal two packets with the same three
// values.
struct PacketName {
  std::uint8_t lane = 0;
  Direction direction = Direction::kFromEven;
  std::uint64_t number = 0;  // full packet number, not only the bits that the packet contains
};

inline Nonce packet_nonce(const PacketName& name) {
  Nonce nonce{};
  nonce[2] = static_cast<std::byte>(name.direction);
  nonce[3] = static_cast<std::byte>(name.lane);
  store_u64(nonce.data() + 4, name.number);
  return nonce;
}

}  // namespace satrelay::crypto
