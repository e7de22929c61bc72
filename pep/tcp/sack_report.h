// The SACK blocks to report: RFC 2018 section 4 (most recently received first) and the duplicate
// report of RFC 2883. Keeps a few positions, not ranges: the reassembler's list is the truth.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/range_set.h"

namespace satrelay::tcp {

class SackReport {
 public:
  // A segment that starts at `position` was stored out of order.
  void on_stored(std::uint64_t position);
  // Data that had arrived before arrived again.
  void on_duplicate(Range range) { duplicate_ = range; }

  bool has_duplicate() const { return duplicate_.has_value(); }
  // Writes up to out.size() blocks out of `held` and forgets the duplicate; returns how many.
  std::size_t write(const RangeSet& held, std::span<Range> out);

 private:
  static constexpr std::size_t kRemembered = 4;
  std::array<std::uint64_t, kRemembered> recent_{};  // most recent first
  std::size_t count_ = 0;
  std::optional<Range> duplicate_;
};

}  // namespace satrelay::tcp
