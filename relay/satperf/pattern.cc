#include "relay/satperf/pattern.h"

#include <algorithm>
#include <cstring>

#include "pep/base/check.h"
#include "pep/base/random.h"

namespace satrelay::satperf {
namespace {

constexpr std::uint64_t shift_of(std::uint32_t stream, std::uint64_t block) {
  return block * 0x9E3779B97F4A7C15U + stream * 0xD1B54A32D192ED03U;
}

// Copies the bytes of the word, beginning with byte `skip`.
void copy_part(std::uint64_t word, std::size_t skip, MutableBytes out) {
  std::byte bytes[8];
  std::memcpy(bytes, &word, sizeof word);
  std::memcpy(out.data(), bytes + skip, out.size());
}

}  // namespace

Pattern::Pattern() : table_(std::make_unique<std::uint64_t[]>(kWords)) {
  Random random(kBlock);
  for (std::size_t i = 0; i < kWords; ++i) table_[i] = random.next();
}

void Pattern::fill(std::uint32_t stream, std::uint64_t offset, MutableBytes out) const {
  const std::uint64_t shift = shift_of(stream, offset / kBlock);
  std::size_t at = static_cast<std::size_t>(offset % kBlock);
  SATRELAY_CHECK(at + out.size() <= kBlock);
  if (const std::size_t skip = at % 8; skip != 0) {
    const std::size_t count = std::min(8 - skip, out.size());
    copy_part(table_[at / 8] + shift, skip, out.first(count));
    out = out.subspan(count);
    at += count;
  }
  const std::uint64_t* const from = table_.get() + at / 8;
  const std::size_t whole = out.size() / 8;
  for (std::size_t i = 0; i < whole; ++i) {
    const std::uint64_t word = from[i] + shift;
    std::memcpy(out.data() + i * 8, &word, sizeof word);
  }
  if (const MutableBytes rest = out.subspan(whole * 8); !rest.empty()) {
    copy_part(from[whole] + shift, 0, rest);
  }
}

bool Pattern::matches(std::uint32_t stream, std::uint64_t offset, ConstBytes bytes) const {
  std::byte expected[4096];
  while (!bytes.empty()) {
    const std::size_t count = std::min(bytes.size(), sizeof expected);
    fill(stream, offset, MutableBytes(expected, count));
    if (std::memcmp(expected, bytes.data(), count) != 0) return false;
    offset += count;
    bytes = bytes.subspan(count);
  }
  return true;
}

}  // namespace satrelay::satperf
