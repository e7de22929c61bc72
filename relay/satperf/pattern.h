// The payload of a stream, as a function of the position. So the far end can detect a wrong, moved
// or repeated byte without a copy of the payload. The payload is fast to compute and to check. Each
// block consists of the same table of random words. To each word, a number is added that depends on
// the stream and the block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "pep/base/bytes.h"
#include "relay/satperf/plan.h"

namespace satrelay::satperf {

class Pattern {
 public:
  Pattern();

  // Fills `out` with the bytes of `stream` from `offset` on. The range must be within one block.
  void fill(std::uint32_t stream, std::uint64_t offset, MutableBytes out) const;
  // True if `bytes` equal the bytes of `stream` from `offset` on. The range must be within one
  // block.
  bool matches(std::uint32_t stream, std::uint64_t offset, ConstBytes bytes) const;

 private:
  static constexpr std::size_t kWords = kBlock / 8;
  std::unique_ptr<std::uint64_t[]> table_;
};

}  // namespace satrelay::satperf
