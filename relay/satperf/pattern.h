// The payload of a stream, as a function of the position. So the far end can notice a wrong, moved
// or repeated byte without a copy. The payload is fast to make and to check. Each block is the same
// table of random words, and a number that depends on the stream and the block is added to each
// word.
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

  // Fills `out` with the bytes of `stream` from `offset` on; must not cross the end of a block.
  void fill(std::uint32_t stream, std::uint64_t offset, MutableBytes out) const;
  // True if `bytes` equal the bytes of `stream` from `offset` on; must not cross the end of a
  // block.
  bool matches(std::uint32_t stream, std::uint64_t offset, ConstBytes bytes) const;

 private:
  static constexpr std::size_t kWords = kBlock / 8;
  std::unique_ptr<std::uint64_t[]> table_;
};

}  // namespace satrelay::satperf
