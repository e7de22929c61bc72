#include "relay/sim/hosts/pattern.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>

namespace satrelay::sim {
namespace {

constexpr std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

constexpr std::uint64_t kStretch = 100'000;

// A table of random bytes that all patterns share. A pattern combines each stretch of kTableSize
// bytes with a different key. The result is as good as newly drawn random bytes, and takes a
// fraction of the time.
constexpr std::size_t kTableSize = 1 << 16;
struct Table {
  Table() {
    for (std::size_t i = 0; i < kTableSize; i += 8) {
      const std::uint64_t value = mix((i + 1) * 0x9E3779B97F4A7C15U);
      std::memcpy(bytes + i, &value, sizeof value);
    }
  }
  std::byte bytes[kTableSize];
};
const Table& table() {
  static const Table instance;
  return instance;
}

// Each '#' stands for a digit.
constexpr std::string_view kAnswer =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nCache-Control: no-cache\r\n"
    "Connection: keep-alive\r\nX-Request: #########\r\nContent-Length: 113\r\n\r\n"
    R"({"vessel": "#########", "latitude": "##.######", "longitude": "##.######", )"
    R"("status": "under way", "course": ###})"
    "\n";
static_assert(kAnswer.size() == 256);

// out = random ^ key. The key's bytes are repeated.
void combine(const std::byte* random, std::uint64_t key, MutableBytes out) {
  std::size_t i = 0;
  for (; i + 8 <= out.size(); i += 8) {
    std::uint64_t value;
    std::memcpy(&value, random + i, sizeof value);
    value ^= key;
    std::memcpy(out.data() + i, &value, sizeof value);
  }
  for (; i < out.size(); ++i) {
    out[i] = random[i] ^ static_cast<std::byte>(key >> (i % 8 * 8));
  }
}

}  // namespace

void Pattern::fill_random(std::uint64_t offset, MutableBytes out) const {
  const Table& random = table();
  while (!out.empty()) {
    const std::size_t position = offset % kTableSize;
    const std::size_t count = std::min(out.size(), kTableSize - position);
    const std::uint64_t key = mix(seed_ + (offset / kTableSize + 1) * 0x9E3779B97F4A7C15U);
    const int turn = static_cast<int>(position % 8 * 8);
    combine(random.bytes + position, std::rotr(key, turn), out.first(count));
    offset += count;
    out = out.subspan(count);
  }
}

std::uint64_t Pattern::text_word(std::uint64_t index) const {
  // A word is seven base-16 digits of its index and a letter that depends on the seed. Words have
  // little entropy, but no two neighboring words are equal.
  std::uint64_t value = index ^ (seed_ & 0xffffU);
  std::uint64_t digits = 0;
  for (int i = 0; i < 7; ++i, value >>= 4) digits = (digits << 8) | ('a' + (value & 15U));
  return (digits << 8) | ('A' + (seed_ % 26));
}

void Pattern::fill_text(std::uint64_t offset, MutableBytes out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const std::uint64_t at = offset + done;
    const std::size_t skip = at % 8;
    const std::size_t count = std::min<std::size_t>(8 - skip, out.size() - done);
    const std::uint64_t value = text_word(at / 8);
    std::byte bytes[8];
    std::memcpy(bytes, &value, sizeof value);
    std::memcpy(out.data() + done, bytes + skip, count);
    done += count;
  }
}

void Pattern::fill_answers(std::uint64_t offset, MutableBytes out) const {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::uint64_t at = offset + i;
    const char c = kAnswer[at % kAnswer.size()];
    out[i] = static_cast<std::byte>(c == '#' ? static_cast<char>('0' + mix(seed_ + at) % 10) : c);
  }
}

void Pattern::fill(std::uint64_t offset, MutableBytes out) const {
  switch (content_) {
    case Content::kRandom:
      return fill_random(offset, out);
    case Content::kText:
      return fill_text(offset, out);
    case Content::kAnswers:
      return fill_answers(offset, out);
    case Content::kMixed:
      break;
  }
  while (!out.empty()) {
    const std::uint64_t rest = kStretch - offset % kStretch;
    const MutableBytes stretch = out.first(std::min<std::uint64_t>(out.size(), rest));
    if ((offset / kStretch) % 2 == 0) {
      fill_random(offset, stretch);
    } else {
      fill_text(offset, stretch);
    }
    offset += stretch.size();
    out = out.subspan(stretch.size());
  }
}

std::optional<std::uint64_t> Pattern::first_difference(std::uint64_t offset,
                                                       ConstBytes bytes) const {
  std::array<std::byte, 8192> expected;
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
