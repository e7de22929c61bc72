// A TCP segment as bytes on the wire, built and read without the code under test. A fault of
// satrelay's own writer or parser must not be repeated here.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "pep/base/bytes.h"

namespace satrelay::conformance {

struct Flags {
  static constexpr std::uint8_t kFin = 0x01, kSyn = 0x02, kRst = 0x04, kPsh = 0x08, kAck = 0x10,
                                kUrg = 0x20, kEce = 0x40, kCwr = 0x80;
};

// The two bits of the IP header (RFC 3168 section 5).
enum class Ecn : std::uint8_t { kNotEct = 0, kEct1 = 1, kEct0 = 2, kCe = 3 };

enum class OptionKind : std::uint8_t {
  kEndOfList,
  kNoOperation,
  kMss,
  kWindowScale,
  kSackPermitted,
  kSack,
  kTimestamps,
  kRaw,  // Any bytes, right or wrong.
};

// An option without a value matches any value, and cannot be sent.
struct Option {
  OptionKind kind = OptionKind::kRaw;
  std::optional<std::uint32_t> value;                           // MSS, shift, TSval.
  std::optional<std::uint32_t> echo;                            // TSecr.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> blocks;  // SACK.
  std::vector<std::byte> raw;                                   // kRaw: all of its bytes.
};

struct Segment {
  std::uint8_t flags = 0;
  std::uint32_t sequence = 0;
  std::uint32_t acknowledgment = 0;
  std::uint16_t window = 0;
  std::uint16_t urgent = 0;
  Ecn ecn = Ecn::kNotEct;
  std::vector<Option> options;
  // In words; stated only if it is to be wrong.
  std::optional<std::uint8_t> data_offset;
  std::vector<std::byte> payload;

  bool has(std::uint8_t flag) const { return (flags & flag) != 0; }
  const Option* find(OptionKind kind) const;
};

struct Ports {
  std::uint16_t source = 0;
  std::uint16_t destination = 0;
};

// TCP header, options padded with end-of-list, payload. The checksum field is zero.
std::vector<std::byte> encode(const Segment& segment, Ports ports);
// nullopt if it is no well-formed TCP segment. No-operation and end-of-list are left out.
std::optional<Segment> decode(ConstBytes bytes);

}  // namespace satrelay::conformance
