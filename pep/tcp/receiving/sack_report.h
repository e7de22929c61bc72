// Chooses the SACK blocks to report: the most recently received first (RFC 2018 section 4), and the
// duplicate of RFC 2883 before them. It remembers only a few positions: the ranges are in the
// reassembler's list.
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
  // Call when a segment that starts at `position` was stored out of order.
  void on_stored(std::uint64_t position);
  // Call when the data in `range` has arrived again.
  void on_duplicate(Range range) { memory().duplicate = range; }

  bool has_duplicate() const { return memory_ && memory_->duplicate.has_value(); }
  // Writes up to out.size() blocks, chosen from the ranges in `held`, and forgets the duplicate.
  // Returns how many blocks were written.
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
    void image(Image& image) {
      image(recent, duplicate);
      image.at_most(kRemembered, count);
    }
  };
  Memory& memory() {
    if (!memory_) memory_ = std::make_unique<Memory>();
    return *memory_;
  }
  std::unique_ptr<Memory> memory_;  // nullptr until data arrives out of order or twice
};

}  // namespace satrelay::tcp
