// The SACK blocks to report: RFC 2018 section 4 (most recently received first) and the duplicate
// report of RFC 2883. It keeps a few positions, not ranges: the reassembler's list has the ranges.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "pep/base/containers/range_set.h"
#include "pep/base/image/image.h"

namespace satrelay::tcp {

class SackReport {
 public:
  // A segment that starts at `position` was stored out of order.
  void on_stored(std::uint64_t position);
  // Data that had arrived before arrived again.
  void on_duplicate(Range range) { memory().duplicate = range; }

  bool has_duplicate() const { return memory_ && memory_->duplicate.has_value(); }
  // Writes up to out.size() blocks out of `held` and forgets the duplicate; returns how many.
  std::size_t write(const RangeSet& held, std::span<Range> out);
  // Frees the memory if there is nothing to report.
  void trim() {
    if (memory_ && memory_->count == 0 && !memory_->duplicate) memory_.reset();
  }

  void image(Image& image) { image(memory_); }

 private:
  static constexpr std::size_t kRemembered = 4;
  struct Memory {
    std::array<std::uint64_t, kRemembered> recent{};  // most recent first
    std::size_t count = 0;
    std::optional<Range> duplicate;
    void image(Image& image) { image(recent, count, duplicate); }
  };
  Memory& memory() {
    if (!memory_) memory_ = std::make_unique<Memory>();
    return *memory_;
  }
  std::unique_ptr<Memory> memory_;  // nullptr until data comes out of order or twice
};

}  // namespace satrelay::tcp
