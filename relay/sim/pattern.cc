#include "relay/sim/pattern.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace satrelay::sim {
namespace {

constexpr std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

constexpr std::uint64_t kStretch = 100'000 / 8;  // words

}  // namespace

std::uint64_t Pattern::word(std::uint64_t index) const {
  const std::uint64_t random = mix(seed_ + index * 0x9E3779B97F4A7C15U);
  const bool text =
      content_ == Content::kText || (content_ == Content::kMixed && (index / kStretch) % 2 == 1);
  if (!text) return random;
  // Eight digits of the position with a letter that differs by flow: little entropy, yet no two
  // places alike.
  std::uint64_t value = index ^ (seed_ & 0xffffU);
  std::uint64_t digits = 0;
  for (int i = 0; i < 7; ++i, value >>= 4) digits = (digits << 8) | ('a' + (value & 15U));
  return (digits << 8) | ('A' + (seed_ % 26));
}

void Pattern::fill(std::uint64_t offset, MutableBytes out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const std::uint64_t at = offset + done;
    const std::size_t skip = at % 8;
    const std::size_t count = std::min<std::size_t>(8 - skip, out.size() - done);
    const std::uint64_t value = word(at / 8);
    std::byte bytes[8];
    std::memcpy(bytes, &value, sizeof value);
    std::memcpy(out.data() + done, bytes + skip, count);
    done += count;
  }
}

std::optional<std::uint64_t> Pattern::first_difference(std::uint64_t offset,
                                                       ConstBytes bytes) const {
  std::array<std::byte, 2048> expected;
  while (!bytes.empty()) {
    const std::size_t count = std::min(bytes.size(), expected.size());
    fill(offset, MutableBytes(expected).first(count));
    if (std::memcmp(expected.data(), bytes.data(), count) != 0) {
      const auto difference = std::mismatch(
          bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count), expected.begin());
      return offset + static_cast<std::uint64_t>(difference.first - bytes.begin());
    }
    offset += count;
    bytes = bytes.subspan(count);
  }
  return std::nullopt;
}

}  // namespace satrelay::sim
