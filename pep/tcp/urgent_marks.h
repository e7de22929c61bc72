// The marks of urgent data in one direction (RFC 9293 section 3.8.5, RFC 6093). A mark is the
// offset of the octet after the urgent octet, as Linux sets the pointer.
//
// At most one mark lies beyond the current end of the stream: the last mark. If the last mark lies
// there, a new mark replaces it. Hosts do the same: they keep only the newest pointer to data that
// has not arrived.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "pep/base/image/image.h"

namespace satrelay::tcp {

class UrgentMarks {
 public:
  // No window is larger than 1 GiB (RFC 7323 section 2.3), and no urgent pointer leads more than
  // 0xffff octets beyond the window.
  static constexpr std::uint64_t kMostAhead = (std::uint64_t{1} << 30U) + 0xffff;
  // Maximum number of marks that are kept, so that a host that marks each segment does not use much
  // memory. If all are in use, a new mark replaces the last one. The urgent octet of the replaced
  // mark becomes ordinary data.
  static constexpr std::size_t kMost = 8;

  enum class Added : std::uint8_t {
    kNothing,  // the mark is not beyond `end`, or not beyond the last mark
    kMark,
    kMoved,   // replaced the last mark, which was beyond `end`
    kMerged,  // replaced the last mark, because kMost were in use
  };
  // `end` is the current end of the stream.
  Added add(std::uint64_t mark, std::uint64_t end) {
    if (mark <= std::max(end, last())) return Added::kNothing;
    Added added = count_ == kMost ? Added::kMerged : Added::kMark;
    if (last() > end) added = Added::kMoved;
    if (added == Added::kMark) ++count_;
    marks_[count_ - 1] = mark;
    return added;
  }
  // Removes the marks up to `position`.
  void pass(std::uint64_t position) {
    std::size_t over = 0;
    while (over < count_ && marks_[over] <= position) passed_ = marks_[over++];
    if (over == 0) return;
    std::move(marks_.begin() + static_cast<std::ptrdiff_t>(over), marks_.end(), marks_.begin());
    count_ -= over;
  }

  bool empty() const { return count_ == 0; }
  // The first mark beyond `position`; 0 if there is none.
  std::uint64_t after(std::uint64_t position) const {
    for (std::size_t i = 0; i < count_; ++i) {
      if (marks_[i] > position) return marks_[i];
    }
    return 0;
  }
  std::uint64_t passed() const { return passed_; }  // the last mark that pass() removed; 0 if none

  void image(Image& image) {
    image(marks_, passed_);
    image.at_most(kMost, count_);
  }

 private:
  std::uint64_t last() const { return count_ == 0 ? 0 : marks_[count_ - 1]; }

  std::array<std::uint64_t, kMost> marks_{};  // ascending
  std::size_t count_ = 0;
  std::uint64_t passed_ = 0;
};

}  // namespace satrelay::tcp
