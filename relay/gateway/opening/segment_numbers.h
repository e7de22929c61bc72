// The sequence and acknowledgment numbers of a segment that belongs to no flow, and a test whether
// two numbers are close enough to belong to the same connection.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "pep/base/bytes.h"
#include "pep/wire/tcp.h"

namespace satrelay::gateway {

struct SegmentNumbers {
  std::uint8_t flags = 0;
  std::uint32_t sequence = 0;
  std::uint32_t acknowledgment = 0;
  std::uint32_t payload = 0;  // size of the payload in octets
};

// `segment` begins with the TCP header, and has at least wire::kTcpHeaderSize octets.
inline SegmentNumbers numbers_of(ConstBytes segment) {
  // The data offset is in the upper four bits, in words of 32 bits.
  constexpr std::size_t kAcknowledgmentOffset = 8, kDataOffset = 12;
  const std::size_t header = std::size_t{load_u8(segment.data() + kDataOffset)} >> 4 << 2;
  const std::size_t payload = segment.size() - std::min(header, segment.size());
  return {.flags = load_u8(segment.data() + wire::kTcpFlagsOffset),
          .sequence = load_u32(segment.data() + wire::kTcpSequenceOffset),
          .acknowledgment = load_u32(segment.data() + kAcknowledgmentOffset),
          .payload = static_cast<std::uint32_t>(payload)};
}

// Windows are hardly ever larger than this. A random number is within this distance once in 128
// tries.
inline constexpr std::uint32_t kSequenceReach = 1U << 24;

constexpr bool is_within_reach(std::uint32_t one, std::uint32_t other) {
  const std::uint32_t distance = one - other;
  return distance <= kSequenceReach || distance >= 0U - kSequenceReach;
}

}  // namespace satrelay::gateway
